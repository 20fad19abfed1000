-- Each event of a flight with what is known of its plane, by a member of the payload.
SELECT
  new_events.unique_key,
  new_events.event_id,
  plane.model,
  plane.year,
  plane.join_key IS NOT NULL AS enriched
FROM new_events
LEFT JOIN `${dataset}.planes` AS plane
  ON plane.join_key = JSON_VALUE(new_events.payload, '$.tail')
