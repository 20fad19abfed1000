-- One row per key: finished before expired, then the newest generation, then the highest revision.
-- Repeats of a revision are identical but for nothing, so any of them will do.
SELECT *
FROM `${dataset}.summaries`
QUALIFY ROW_NUMBER() OVER (
  PARTITION BY unique_key
  ORDER BY IF(state = 'finished', 0, 1), generation DESC, revision DESC
) = 1
