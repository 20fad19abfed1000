/** Bytes of `unique_key`, as UTF-8. */
export const MAX_KEY = 1500;
/** Bytes of `event_status`: it is only stored, so free text that producers put there does not cost the event. */
export const MAX_STATUS = 2048;
/** Bytes of the other texts of an event. */
export const MAX_TEXT = 1024;
/**
 * Bytes of a row of `events`. BigQuery takes rows of 10 MB; below this a row alone always fits into a group, and the
 * message it came from, with the attributes that a dead letter adds, always fits into a Pub/Sub message.
 */
export const MAX_ROW = 8_000_000;
/** Bytes that a compressed message may inflate to. */
export const MAX_INFLATED = MAX_ROW;
