-- Events that the join has nothing in the ledger for: unmatched under "drop", left out by its SELECT, waiting still, or
-- not reached yet. Each once, of the last 30 days by their own time: a constant bound keeps BigQuery to these days of
-- both tables. Older events and those without a time are not listed.
SELECT source.*
FROM `${source}` AS source
LEFT JOIN (
  SELECT unique_key, event_id, event_time
  FROM `${dataset}.joined`
  WHERE join_name = '${join}'
    AND event_time >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 30 DAY)
) AS joined
  ON joined.unique_key = CAST(source.`${key}` AS STRING)
  AND joined.event_id = CAST(source.`${id}` AS STRING)
  AND joined.event_time = source.`${time}`
WHERE source.`${time}` >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 30 DAY)
  AND joined.unique_key IS NULL
QUALIFY ROW_NUMBER() OVER (
  PARTITION BY source.`${key}`, source.`${id}`, source.`${time}`
  ORDER BY source.`${arrival}`
) = 1
