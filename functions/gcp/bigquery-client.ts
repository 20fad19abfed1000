import { BigQuery, type BigQueryOptions } from '@google-cloud/bigquery';
import type { Config } from '../config.ts';

/** The REST client, of Google or of a local server (`host:port` or a URL). */
export function createBigQuery({ projectId, bigqueryHost: host }: Config, further: BigQueryOptions = {}): BigQuery {
  if (host === null) return new BigQuery({ ...further, projectId });
  return new BigQuery({ ...further, projectId, apiEndpoint: host.startsWith('http') ? host : `http://${host}` });
}
