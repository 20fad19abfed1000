import { BigQuery } from '@google-cloud/bigquery';
import type { PubSub } from '@google-cloud/pubsub';
import type { Config } from '../../functions/config.ts';
import type { Found, Surroundings } from './run.ts';

const MAX_BYTES_BILLED = 1e9;

/** What takes the event, and what is asked for it. */
export function surroundings(
  pubsub: PubSub,
  bigquery: BigQuery,
  place: Pick<Config, 'dataset' | 'eventsTopic'>,
): Pick<Surroundings, 'publish' | 'find'> {
  const topic = pubsub.topic(place.eventsTopic);
  const there = (view: string, time: string) =>
    `EXISTS (SELECT 1 FROM ${place.dataset}.${view} WHERE unique_key = @key AND ${time} >= @since)`;
  const sql = `SELECT ${there('events_unique', 'event_time')} AS event, ${there('summaries_latest', 'written_at')} AS summary`;
  return {
    publish: async (event) => {
      await topic.publishMessage({ json: event });
    },
    find: async (key, since) => {
      const [rows] = await bigquery.query({
        query: sql,
        params: { key, since: BigQuery.timestamp(since) },
        maximumBytesBilled: String(MAX_BYTES_BILLED),
        labels: { codaflow: 'canary' },
      });
      return (rows as [Found])[0];
    },
  };
}
