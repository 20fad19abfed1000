-- One row per event: repeats of an identity on one day fall to the first that was ingested.
SELECT *
FROM `${dataset}.events`
QUALIFY ROW_NUMBER() OVER (
  PARTITION BY TIMESTAMP_TRUNC(event_time, DAY), unique_key, event_id
  ORDER BY ingest_time, message_id, event_time
) = 1
