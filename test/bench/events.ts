import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { shiftDays } from '../../local/demo/time.ts';

interface SampleEvent {
  readonly event_id: string;
  readonly unique_key: string;
  readonly event_status: string;
  readonly timestamp: string;
  readonly join_key: string;
  readonly payload: object;
}

/** Statuses that end a flight. */
export const COMPLETION = 'arrived,cancelled,diverted';
const SAMPLE = path.resolve(import.meta.dirname, '../../local/sample/flights.ndjson.gz');
const SIZE = 1024;
const DAY_MS = 86_400_000;

/** The flights' own keys; one key for all; or a key for so many events that follow each other. */
export type Keys = 'spread' | 'one' | 'bursts';
const BURST = 50;

/** Flights of the sample as long as wanted: every round has ids and keys of its own. */
export class EventSource {
  readonly #sample: readonly SampleEvent[];
  readonly #days: number;

  constructor() {
    const lines = gunzipSync(readFileSync(SAMPLE)).toString().trim().split('\n');
    this.#sample = lines.map((line) => JSON.parse(line) as SampleEvent);
    this.#days = Math.floor((Date.now() - Date.parse(this.#sample[0]!.timestamp)) / DAY_MS) - 5;
  }

  /**
   * The body of the push request of event `n`, about 1 KiB of data, from 0. `run` keeps the events of one run apart from
   * those of another; where keys are shared no event completes one.
   */
  push(n: number, run: string, keys: Keys = 'spread'): string {
    const sample = this.#sample;
    const event = sample[n % sample.length]!;
    const round = Math.floor(n / sample.length);
    const body = {
      ...event,
      event_id: `${event.event_id}/${run}/${round}`,
      unique_key: keyOf(event, n, `${run}/${round}`, keys),
      event_status: keys === 'spread' ? event.event_status : 'departed',
      timestamp: shiftDays(event.timestamp, this.#days),
      payload: { ...event.payload, others: [] as object[] },
    };
    // Filled up with the flights that follow in the log.
    let size = JSON.stringify(body).length;
    for (let next = n + 1; size < SIZE; next++) {
      const other = sample[next % sample.length]!.payload;
      body.payload.others.push(other);
      size += JSON.stringify(other).length + 1;
    }
    return wrap(Buffer.from(JSON.stringify(body)), `${run}-${n}`);
  }

  /** Keys of the first `count` events that end a flight. */
  finished(count: number, run: string): string[] {
    const ends = COMPLETION.split(',');
    const keys: string[] = [];
    for (let n = 0; n < count; n++) {
      const event = this.#sample[n % this.#sample.length]!;
      if (ends.includes(event.event_status)) {
        keys.push(`${event.unique_key}/${run}/${Math.floor(n / this.#sample.length)}`);
      }
    }
    return keys;
  }
}

function keyOf(event: SampleEvent, n: number, round: string, keys: Keys): string {
  if (keys === 'spread') return `${event.unique_key}/${round}`;
  return keys === 'one' ? `one/${round.split('/')[0]}` : `burst/${Math.floor(n / BURST)}/${round}`;
}

/** As Pub/Sub pushes a message. */
export function wrap(data: Buffer, messageId: string): string {
  const publishTime = new Date().toISOString();
  return JSON.stringify({
    message: {
      data: data.toString('base64'),
      messageId,
      message_id: messageId,
      publishTime,
      publish_time: publishTime,
    },
    subscription: 'projects/codaflow-local/subscriptions/events-ingest',
    deliveryAttempt: 1,
  });
}
