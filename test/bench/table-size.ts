import { connect } from '../../local/clients.ts';
import { DATASET } from '../../local/resources.ts';
import type { CloudProcess } from './cloud-process.ts';
import { tick } from './joined.ts';
import { ROOT, Subject } from './subject.ts';

/** Bytes that BigQuery processes for one run of a join with the same number of new rows. */
export interface TableSize {
  /** New rows of each run, and older rows of each day. */
  readonly rows: number;
  /** Days of older rows in `events`, and as many in the ledger. */
  readonly days: readonly number[];
  readonly bytes: readonly number[];
}

const ROWS = 500;
const DAYS = [1, 10, 100];
const SETTINGS = { JOIN_WAIT: '0s' };
/** Past the lag, and past the lookback. */
const LAG_SECONDS = 120;
const LOOKBACK_SECONDS = 1200;

export async function tableSize(cloud: CloudProcess): Promise<TableSize> {
  const env: Readonly<Record<string, string>> = { ...cloud.env, ...SETTINGS };
  const clients = connect(cloud.env as never);
  const events = clients.bigquery.dataset(DATASET).table('events');
  /** Rows of one day, so many days ago. */
  const insert = (daysAgo: number) => {
    const time = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
    return events.insert(Array.from({ length: ROWS }, (_, n) => row(`${daysAgo}/${n}`, time)));
  };
  const join = await Subject.start({ target: 'join', source: ROOT, env });
  try {
    // The cursor begins now.
    await tick(join);
    const bytes: number[] = [];
    let filled = 0;
    for (const [size, days] of DAYS.entries()) {
      for (; filled < days; filled++) await insert(DAYS.length + filled);
      await cloud.advance(LAG_SECONDS);
      await tick(join);
      await cloud.advance(LOOKBACK_SECONDS);
      await tick(join);
      // Each size has a day of its own for its new rows.
      await insert(size);
      await cloud.advance(LAG_SECONDS);
      const before = await cloud.counts();
      await tick(join);
      const after = await cloud.counts();
      const of = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
      if (of('pubsub.publish_messages') !== ROWS) throw new Error(`published ${of('pubsub.publish_messages')} rows`);
      bytes.push(of('bigquery.bytes_processed'));
    }
    return { rows: ROWS, days: DAYS, bytes };
  } finally {
    await Promise.all([join.stop(), clients.close()]);
  }
}

function row(id: string, time: string): Readonly<Record<string, string>> {
  return {
    event_id: id,
    unique_key: `order ${id}`,
    event_status: 'started',
    event_time: time,
    join_key: 'customer',
    payload: JSON.stringify({ text: 'x'.repeat(1000) }),
    message_id: id,
    publish_time: time,
    ingest_time: time,
  };
}
