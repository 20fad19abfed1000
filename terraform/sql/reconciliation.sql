-- Keys whose stored events and summaries disagree, an hour after their summary was due. A correction of a finished
-- summary comes within minutes; anything else only after the silence deadline, and so does a key that speaks again when
-- its state may have been forgotten.
-- Expired partitions take rows along. Where events may be gone, only more events than were summed are a difference; a
-- key whose first summary may be gone is left out.
WITH stored AS (
  SELECT
    unique_key,
    COUNT(DISTINCT event_id) AS events,
    MIN(ingest_time) AS first_ingest_time,
    MAX(ingest_time) AS last_ingest_time
  FROM `${dataset}.events`
  GROUP BY unique_key
),
newest AS (
  SELECT unique_key, generation, state, total_steps, start_time, written_at
  FROM `${dataset}.summaries`
  QUALIFY ROW_NUMBER() OVER (PARTITION BY unique_key, generation ORDER BY revision DESC) = 1
),
summed AS (
  SELECT
    unique_key,
    SUM(total_steps) AS total_steps,
    MIN(start_time) AS start_time,
    MAX(written_at) AS written_at,
    MAX(IF(state = 'finished', written_at, NULL)) AS finished_at
  FROM newest
  GROUP BY unique_key
),
compared AS (
  SELECT
    IFNULL(stored.unique_key, summed.unique_key) AS unique_key,
    IFNULL(stored.events, 0) AS events,
    IFNULL(summed.total_steps, 0) AS total_steps,
    stored.first_ingest_time,
    -- A key none of whose events is stored was summed when it had come.
    IFNULL(stored.last_ingest_time, summed.written_at) AS last_ingest_time,
    summed.start_time,
    summed.finished_at
  FROM stored
  FULL JOIN summed ON summed.unique_key = stored.unique_key
)
SELECT unique_key, events, total_steps, last_ingest_time
FROM compared
WHERE events != total_steps
  AND last_ingest_time < TIMESTAMP_SUB(
    CURRENT_TIMESTAMP(),
    INTERVAL IF(
      last_ingest_time < TIMESTAMP_ADD(finished_at, INTERVAL ${retention_seconds} SECOND),
      3600,
      3600 + ${silence_seconds}
    ) SECOND
  )
  AND (
    events > total_steps
    OR start_time > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL (${events_days} - 1) DAY)
  )
  AND (
    first_ingest_time IS NULL
    OR first_ingest_time > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL (${summaries_days} - 1) DAY)
  )
