-- Keys whose stored events and summaries disagree although nothing came for an hour
-- (for keys without any summary: for a day and an hour, when the silence deadline has passed).
WITH stored AS (
  SELECT unique_key, COUNT(DISTINCT event_id) AS events, MAX(ingest_time) AS last_ingest_time
  FROM `${dataset}.events`
  GROUP BY unique_key
),
newest AS (
  SELECT unique_key, generation, total_steps
  FROM `${dataset}.summaries`
  QUALIFY ROW_NUMBER() OVER (PARTITION BY unique_key, generation ORDER BY revision DESC) = 1
),
summed AS (
  SELECT unique_key, SUM(total_steps) AS total_steps
  FROM newest
  GROUP BY unique_key
)
SELECT stored.unique_key, stored.events, IFNULL(summed.total_steps, 0) AS total_steps, stored.last_ingest_time
FROM stored
LEFT JOIN summed ON summed.unique_key = stored.unique_key
WHERE stored.events != IFNULL(summed.total_steps, 0)
  AND stored.last_ingest_time < TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL IF(summed.total_steps IS NULL, 25, 1) HOUR)
