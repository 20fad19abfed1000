/** List prices in us-central1, US dollars, without free tiers. `page` is where Google states it, `read` when it was read. */
export interface Price {
  readonly dollars: number;
  readonly per: number;
  readonly unit: string;
  readonly page: string;
  /** A day or a month; what was not read on the page itself says so. */
  readonly read: string;
}

const price = (dollars: number, per: number, unit: string, page: string, read: string): Price => ({
  dollars,
  per,
  unit,
  page,
  read,
});

const GIB = 2 ** 30;
const TIB = 2 ** 40;
const PUBSUB = 'https://cloud.google.com/pubsub/pricing';
const RUN = 'https://cloud.google.com/run/pricing';
const FIRESTORE = 'https://docs.cloud.google.com/firestore/native/docs/query-data/understanding-core-pipelines';
const BIGQUERY = 'https://cloud.google.com/bigquery/pricing';
const SCHEDULER = 'https://cloud.google.com/scheduler/pricing';
const TEMPLATES = 'https://github.com/GoogleCloudPlatform/DataflowTemplates (LoadTestBase.java, 378c7e57)';

const AUGUST = '2026-08, a copy of the page';
const SEPTEMBER = '2026-09-20, as read by others';
const OCTOBER = '2026-10-08, as noted by others';
const NOVEMBER = '2026-11-29';

export const PRICES = {
  pubsub: price(40, TIB, 'byte published or delivered', PUBSUB, SEPTEMBER),
  pubsubToBigQuery: price(50, TIB, 'byte delivered by a BigQuery subscription', PUBSUB, SEPTEMBER),
  runCpu: price(0.000024, 1, 'vCPU-second while a request is served', RUN, OCTOBER),
  runMemory: price(0.0000025, 1, 'GiB-second', RUN, OCTOBER),
  runRequests: price(0.4, 1e6, 'request', RUN, OCTOBER),
  standardReads: price(0.03, 1e5, 'document read', FIRESTORE, NOVEMBER),
  standardWrites: price(0.09, 1e5, 'document written', FIRESTORE, NOVEMBER),
  standardDeletes: price(0.01, 1e5, 'document deleted', FIRESTORE, NOVEMBER),
  enterpriseReads: price(0.05, 1e6, 'unit of 4 KiB read', FIRESTORE, NOVEMBER),
  enterpriseWrites: price(
    0.26,
    1e6,
    'unit of 1 KiB written or deleted, or index entry put or taken away',
    FIRESTORE,
    NOVEMBER,
  ),
  standardStorage: price(0.15, GIB, 'byte and month', FIRESTORE, NOVEMBER),
  enterpriseStorage: price(0.24, GIB, 'byte and month', FIRESTORE, NOVEMBER),
  bigqueryWrite: price(0.025, GIB, 'byte through the Storage Write API (gRPC)', BIGQUERY, AUGUST),
  bigqueryStorage: price(0.02, GIB, 'byte and month, active', BIGQUERY, AUGUST),
  bigqueryQueries: price(6.25, TIB, 'byte processed on demand', BIGQUERY, AUGUST),
  schedulerJobs: price(0.1, 1, 'job and month', SCHEDULER, NOVEMBER),
  dataflowCpu: price(0.069, 1, 'vCPU-hour, streaming', TEMPLATES, NOVEMBER),
  dataflowMemory: price(0.0035557, 1, 'GB-hour', TEMPLATES, NOVEMBER),
  dataflowDisk: price(0.000054, 1, 'GB-hour of disk', TEMPLATES, NOVEMBER),
  dataflowData: price(0.018, 1e9, 'byte through Streaming Engine', TEMPLATES, NOVEMBER),
} as const satisfies Record<string, Price>;

export type PriceName = keyof typeof PRICES;

/** Dollars for an amount in the price's own unit. */
export function dollars(name: PriceName, amount: number): number {
  const { dollars: perUnit, per } = PRICES[name];
  return (amount / per) * perUnit;
}
