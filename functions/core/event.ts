/** Epoch microseconds. Every accepted time is a safe integer. */
export type Micros = number;

/** One decoded event. Texts are exactly as published: never trimmed, folded or re-printed. */
export interface Event {
  /** Identity inside the key. */
  readonly eventId: string;
  readonly uniqueKey: string;
  readonly eventStatus: string;
  readonly eventTime: Micros;
  readonly joinKey: string | null;
  /** The producer's number inside the key, from 1; on a completion event it is the total. */
  readonly sequence: number | null;
  /** JSON source text, byte for byte; null when absent or JSON null. */
  readonly payload: string | null;
  /** JSON object text of the members that no column holds (and the original timestamp text when it was normalised); null when none. */
  readonly extra: string | null;
  /** Whether the timestamp was converted (no zone, epoch number, more than six digits). */
  readonly normalised: boolean;
}

/** One message as it was delivered. */
export interface Delivery {
  readonly data: Uint8Array;
  readonly attributes: Readonly<Record<string, string>>;
  readonly messageId: string;
  /** When Pub/Sub took it; null when the caller is not Pub/Sub. */
  readonly publishTime: Micros | null;
  /** From 1; null when the subscription has no dead-letter policy or the caller is not Pub/Sub. */
  readonly deliveryAttempt: number | null;
  /** Where it came from: the subscription, or the name of the task or caller. */
  readonly origin: string;
  readonly orderingKey: string | null;
}

/** A row of the table `events`; columns as in terraform/schemas/events.json. */
export interface EventRow {
  readonly event_id: string;
  readonly unique_key: string;
  readonly event_status: string;
  readonly event_time: Micros;
  readonly join_key: string | null;
  readonly sequence: number | null;
  readonly payload: string | null;
  readonly extra: string | null;
  readonly attributes: string | null;
  readonly message_id: string | null;
  readonly publish_time: Micros | null;
  readonly ingest_time: Micros;
}

/** A row of the table `summaries` and the body of a message on the topic `summaries`; columns as in terraform/schemas/summaries.json. */
export interface SummaryRow {
  readonly unique_key: string;
  readonly generation: number;
  readonly revision: number;
  readonly state: 'finished' | 'expired';
  readonly complete: boolean;
  readonly final_status: string | null;
  readonly total_steps: number;
  readonly start_time: Micros;
  readonly finish_time: Micros | null;
  readonly last_event_time: Micros;
  readonly duration_seconds: number | null;
  readonly late_events: number;
  readonly steps: readonly { readonly event_id: string; readonly event_status: string; readonly event_time: Micros }[];
  readonly fields: string | null;
  readonly written_at: Micros;
}
