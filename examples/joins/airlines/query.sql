-- Each event of a flight with the name of its airline.
SELECT
  new_events.unique_key,
  new_events.event_id,
  airline.target_attribute AS airline,
  airline.join_key IS NOT NULL AS enriched
FROM new_events
LEFT JOIN `${dataset}.reference` AS airline
  ON airline.join_key = new_events.join_key
