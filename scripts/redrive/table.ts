import { hash } from 'node:crypto';
import { BigQuery, type Job, type Query } from '@google-cloud/bigquery';
import { formatMicros } from '../../functions/core/time.ts';
import type { Letter } from './letter.ts';
import type { Options } from './options.ts';
import type { Source } from './run.ts';

export interface Reading extends Source {
  /** Bytes that the query bills. */
  readonly bytesBilled: number;
}

const PAGE = 1000;
/** The query is refused when it would bill more: narrow it with --from and --to, which prune partitions. */
const MAX_BYTES_BILLED = 10e9;

interface Row {
  readonly message_id: string;
  readonly published: number;
  readonly data: Buffer | null;
  readonly attributes: string | null;
}

/** Runs the query once; its result stays for a day and can be read repeatedly without cost. */
export async function readTable(client: BigQuery, options: Options, now: number): Promise<Reading> {
  const [job] = await client.createQueryJob(query(options, now));
  await job.getQueryResults({ maxResults: 0, autoPaginate: false });
  const [metadata] = (await job.getMetadata()) as unknown as [
    { statistics?: { query?: { totalBytesBilled?: string } } },
  ];
  return {
    bytesBilled: Number(metadata.statistics?.query?.totalBytesBilled ?? 0),
    pages: () => pages(job),
  };
}

function query({ dataset, reason, key, from, to }: Options, now: number): Query {
  const conditions = ['publish_time < @until'];
  const params: Record<string, unknown> = { until: BigQuery.timestamp(formatMicros(to ?? now)) };
  if (from !== null) {
    conditions.push('publish_time >= @since');
    params['since'] = BigQuery.timestamp(formatMicros(from));
  }
  if (reason === 'none') conditions.push("JSON_VALUE(attributes, '$.reason') IS NULL");
  else if (reason !== null) {
    conditions.push("JSON_VALUE(attributes, '$.reason') = @reason");
    params['reason'] = reason;
  }
  if (key !== null) {
    conditions.push(
      "(JSON_VALUE(attributes, '$.unique_key') = @key OR JSON_VALUE(attributes, '$.unique_key_sha256') = @key_hash)",
    );
    Object.assign(params, { key, key_hash: hash('sha256', key, 'hex') });
  }
  return {
    query: `SELECT message_id, UNIX_MICROS(publish_time) AS published, data, attributes
FROM ${dataset}.dead_letters
WHERE ${conditions.join(' AND ')}
ORDER BY published, message_id`,
    params,
    maximumBytesBilled: String(MAX_BYTES_BILLED),
    labels: { codaflow: 'redrive' },
  };
}

async function* pages(job: Job): AsyncIterable<readonly Letter[]> {
  let pageToken: string | undefined;
  do {
    const [rows, next] = (await job.getQueryResults({
      autoPaginate: false,
      maxResults: PAGE,
      ...(pageToken === undefined ? {} : { pageToken }),
    })) as unknown as [Row[], { pageToken?: string } | null];
    yield rows.map(toLetter);
    pageToken = next?.pageToken;
  } while (pageToken !== undefined);
}

function toLetter(row: Row): Letter {
  return {
    messageId: row.message_id,
    publishTime: row.published,
    data: row.data ?? Buffer.alloc(0),
    attributes: JSON.parse(row.attributes ?? '{}') as Record<string, string>,
  };
}
