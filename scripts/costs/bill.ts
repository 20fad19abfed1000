import { operations, stateBytes, type Usage } from './operations.ts';
import { dollars } from './prices.ts';

export type Edition = 'standard' | 'enterprise';

/** Dollars a month, by part. */
export type Bill = Readonly<Record<string, number>>;

/** Bytes that Pub/Sub adds to a message, and the least that it bills for a request. */
const MESSAGE = 20;
const LEAST = 1000;
/** Bytes of a hint that a key is due, of a summary without its steps, and of each step in it. */
const HINT = 200;
const SUMMARY = 500;
const SUMMARY_STEP = 90;
const STEPS = 200;
/** Bytes of a row beyond the event's data: times, ids, names. */
const ROW = 150;
/** An instance: one vCPU, 512 MiB. */
const INSTANCE_GIB = 0.5;
const MINUTES = 30 * 24 * 60;
const HOURS = 30 * 24;
/** A state stays 35 days after its summary. */
const STATE_MONTHS = 35 / 30;
/** Bytes at least of each table in a query. */
const LEAST_QUERY = 10 * 2 ** 20;

/** What the events cost, without what is there anyway. */
export function billOfEvents(usage: Usage, edition: Edition): Bill {
  const { events, size, perKey, inFlight, latency } = usage;
  const done = operations(usage);
  const message = size + MESSAGE;
  const summary = SUMMARY + SUMMARY_STEP * Math.min(perKey, STEPS);
  // Producers publish many events at once; a push is one message.
  const published = events * message + done.keys * (HINT + summary);
  const pushed = events * Math.max(LEAST, message) + done.keys * Math.max(LEAST, HINT);
  const requests = events + done.keys;
  const seconds = (requests * latency) / 1000 / inFlight;
  const rows = events * (size + ROW) + done.keys * summary;
  const state = done.keys * stateBytes(perKey) * STATE_MONTHS;
  const firestore =
    edition === 'standard'
      ? dollars('standardReads', done.reads) +
        dollars('standardWrites', done.writes) +
        dollars('standardDeletes', done.deletes) +
        dollars('standardStorage', state)
      : dollars('enterpriseReads', done.readUnits) +
        dollars('enterpriseWrites', done.writeUnits + done.indexUnits + done.deleteUnits) +
        dollars('enterpriseStorage', state);
  return {
    'Pub/Sub': dollars('pubsub', published + pushed),
    'Cloud Run, requests': dollars('runRequests', requests),
    'Cloud Run, compute': dollars('runCpu', seconds) + dollars('runMemory', seconds * INSTANCE_GIB),
    Firestore: firestore,
    'BigQuery, writing': dollars('bigqueryWrite', rows),
    'BigQuery, a month of storage': dollars('bigqueryStorage', rows),
  };
}

/** What one join adds: it looks every so many minutes, back over its lookback, and at the ledger of the days it meets. */
export function billOfJoin({ events, size }: Usage, minutes: number, lookback = 10): Bill {
  if (minutes === 0) return {};
  const ticks = MINUTES / minutes;
  const row = size + ROW;
  // The probe reads one column of the window, the MERGE the rows, each as often as the lookback meets them.
  const window = events * (row + 8) * (1 + lookback / minutes);
  // On average half a day of result ids is there already.
  const ledger = ticks * (events / 30 / 2) * 90;
  const scanned = Math.max(window + ledger + events * row, ticks * 2 * LEAST_QUERY);
  return {
    'Join, queries': dollars('bigqueryQueries', scanned),
    'Join, ledger': dollars('bigqueryStorage', events * (row + 200)),
    'Join, publishing': dollars('pubsub', events * row),
    'Join, Cloud Run': dollars('runRequests', ticks) + dollars('runCpu', ticks * 3) + dollars('runMemory', ticks * 1.5),
  };
}

/** Reads of a sweep that finds nothing: a search of each of 16 shards of keys and of watches, and a count of both. */
const SWEEP_READS = 34;

/** What is there without any event: two jobs of Cloud Scheduler, and a sweep every minute. */
export function billAtRest(edition: Edition): Bill {
  const reads = MINUTES * SWEEP_READS;
  return {
    'Cloud Scheduler': dollars('schedulerJobs', 2),
    'Sweep, Firestore': edition === 'standard' ? dollars('standardReads', reads) : dollars('enterpriseReads', reads),
    'Sweep, Cloud Run':
      dollars('runRequests', MINUTES) + dollars('runCpu', MINUTES * 0.3) + dollars('runMemory', MINUTES * 0.15),
  };
}

/** A copy of the events in BigQuery and no more: no summary, no join, repeats included. */
export function billOfSubscription({ events, size }: Usage): number {
  const bytes = events * (size + MESSAGE);
  return dollars('pubsub', bytes) + dollars('pubsubToBigQuery', bytes) + dollars('bigqueryStorage', bytes);
}

/** The smallest streaming job: one n1-standard-2 (2 vCPU, 7.5 GB, 30 GB of disk) that always runs. */
const WORKER = { cpus: 2, memory: 7.5, disk: 30 };
/** Bytes a second that a worker of this size took in Google's own measurement, exactly once. */
const WORKER_BYTES = 15e6;

export function billOfDataflow({ events, size }: Usage): number {
  const bytes = events * (size + MESSAGE);
  const workers = Math.max(1, Math.ceil(bytes / (HOURS * 3600) / WORKER_BYTES));
  const hour =
    dollars('dataflowCpu', WORKER.cpus) +
    dollars('dataflowMemory', WORKER.memory) +
    dollars('dataflowDisk', WORKER.disk);
  return (
    workers * hour * HOURS +
    dollars('dataflowData', bytes) +
    dollars('pubsub', 2 * bytes) +
    dollars('bigqueryWrite', bytes) +
    dollars('bigqueryStorage', bytes)
  );
}

export function total(...bills: readonly Bill[]): number {
  return bills.flatMap((bill) => Object.values(bill)).reduce((sum, part) => sum + part, 0);
}

/** Events a month from which on the streaming job is cheaper; null when it never is below a trillion. */
export function breakEven(usage: Usage, edition: Edition, joinMinutes: number): number | null {
  const dearer = (events: number): boolean => {
    const at = { ...usage, events };
    const ours = total(billOfEvents(at, edition), billOfJoin(at, joinMinutes), billAtRest(edition));
    return ours > billOfDataflow(at);
  };
  let [low, high] = [1, 1e12];
  if (!dearer(high)) return null;
  while (high / low > 1.001) {
    const middle = Math.sqrt(low * high);
    if (dearer(middle)) high = middle;
    else low = middle;
  }
  return high;
}
