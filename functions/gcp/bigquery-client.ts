import { BigQuery } from '@google-cloud/bigquery';
import type { Config } from '../config.ts';

/** The REST client, of Google or of a local server (`host:port` or a URL). */
export function createBigQuery({ projectId, bigqueryHost: host }: Config): BigQuery {
  if (host === null) return new BigQuery({ projectId });
  return new BigQuery({ projectId, apiEndpoint: host.startsWith('http') ? host : `http://${host}` });
}
