import { background } from '../shared/background.ts';
import type { Faults } from '../shared/faults.ts';
import type { Meter } from '../shared/meter.ts';
import type { Time } from '../shared/time.ts';
import { timeText } from './message.ts';
import type { Consumer, Entry, Lease, Subscription } from './subscription.ts';
import type { Settings } from './wire.ts';

/**
 * Writes rows to a table, `project.dataset.table`; all of them, or none and it rejects. BYTES are base64 text, times
 * RFC 3339 text.
 */
export type RowWriter = (table: string, rows: Record<string, unknown>[]) => Promise<void>;

export interface BigQueryEnv {
  readonly time: Time;
  readonly faults: Faults;
  readonly meter: Meter;
  /** Undefined as long as nobody has given one: then the messages wait. */
  readonly writer: () => RowWriter | undefined;
}

const MAX_ROWS = 200;
const MAX_BYTES = 5_000_000;
const MIN_BYTES = 1000;
/** Pause after failures in a row, in milliseconds. */
const MIN_PAUSE = 100;
const MAX_PAUSE = 2000;

/** Writes the messages of a subscription to a BigQuery table. */
export class BigQueryWriter implements Consumer {
  readonly #subscription: Subscription;
  readonly #env: BigQueryEnv;
  #busy = false;
  #closed = false;
  #pause = 0;
  #cancelPause: (() => void) | undefined;

  constructor(subscription: Subscription, env: BigQueryEnv) {
    this.#subscription = subscription;
    this.#env = env;
  }

  pump(): void {
    if (this.#busy || this.#closed || this.#cancelPause) return;
    const writer = this.#env.writer();
    if (!writer) return;
    const leases = this.#subscription.take(MAX_ROWS, MAX_BYTES, Infinity);
    if (leases.length === 0) return;
    this.#busy = true;
    background(
      this.#handle(leases, writer).then((failed) => {
        this.#busy = false;
        this.#rest(failed);
        this.pump();
      }),
    );
  }

  close(): void {
    this.#closed = true;
    this.#cancelPause?.();
    this.#cancelPause = undefined;
  }

  /** Writes a batch; when that fails, every row by itself, so that each message has its own fate. */
  async #handle(leases: readonly Lease[], writer: RowWriter): Promise<boolean> {
    const failure = await this.#write(leases, writer);
    if (failure === undefined) for (const lease of leases) this.#subscription.ack(lease);
    else if (leases.length === 1) this.#subscription.nack(leases[0]!, failure);
    else {
      let failed = false;
      for (const lease of leases) failed = (await this.#handle([lease], writer)) || failed;
      return failed;
    }
    return failure !== undefined;
  }

  async #write(leases: readonly Lease[], writer: RowWriter): Promise<string | undefined> {
    const { faults, meter, time } = this.#env;
    const { settings } = this.#subscription;
    const fault = faults.next('pubsub', 'bigquery', settings.name);
    if (fault?.kind === 'refuse') return fault.message ?? 'injected: write refused';
    if (fault?.kind === 'delay') await new Promise<void>((resolve) => void time.setTimeout(resolve, fault.ms));
    try {
      const rows = leases.map(({ entry }) => toRow(settings, entry));
      const table = settings.bigqueryConfig!.table.replace(':', '.');
      for (let n = fault?.kind === 'deliver_twice' ? 2 : 1; n > 0; n--) await writer(table, rows);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    const bytes = leases.reduce((sum, { entry }) => sum + entry.message.size, 0);
    meter.add('pubsub.bigquery_messages', leases.length);
    meter.add('pubsub.bigquery_bytes', Math.max(MIN_BYTES, bytes));
    return fault?.kind === 'lose_answer' ? 'injected: answer of the write lost' : undefined;
  }

  #rest(failed: boolean): void {
    if (!failed) {
      this.#pause = 0;
      return;
    }
    if (this.#closed) return;
    this.#pause = Math.min(Math.max(this.#pause * 2, MIN_PAUSE), MAX_PAUSE);
    this.#cancelPause = this.#env.time.setTimeout(() => {
      this.#cancelPause = undefined;
      this.pump();
    }, this.#pause);
  }
}

/** The row of a message: its columns by the table's schema, or the `data` column; and the metadata if wanted. */
function toRow(settings: Settings, entry: Entry): Record<string, unknown> {
  const { useTableSchema, writeMetadata } = settings.bigqueryConfig!;
  const { message } = entry;
  const content = useTableSchema ? fields(message.data) : { data: message.data.toString('base64') };
  if (!writeMetadata) return content;
  return {
    subscription_name: settings.name,
    message_id: message.id,
    publish_time: timeText(message.publishTime),
    attributes: JSON.stringify(message.attributes),
    ...content,
  };
}

function fields(data: Buffer): Record<string, unknown> {
  const value = JSON.parse(data.toString('utf8')) as unknown;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not a JSON object');
  return value as Record<string, unknown>;
}
