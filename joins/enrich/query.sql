-- Each new event with what the reference table says about its join key; of several rows the latest counts (join.json).
-- `enriched` tells whether it says anything: rows without it wait for their reference row.
SELECT
  new_events.unique_key,
  new_events.event_id,
  new_events.payload,
  reference.target_attribute,
  reference.updated_at,
  reference.join_key IS NOT NULL AS enriched
FROM new_events
LEFT JOIN `${dataset}.reference` AS reference
  ON reference.join_key = new_events.join_key
