import type { EventRow } from '../../functions/core/event.ts';
import { digest } from '../../functions/core/ids.ts';
import { PermanentError, TransientError } from '../../functions/core/errors.ts';
import type { JobState, QueryJob, ResultPage, Warehouse } from '../../functions/ports.ts';
import { through, type Gate } from './gate.ts';
import type { Committed, FakeTable } from './tables.ts';

export interface LedgerRow {
  readonly join_name: string;
  readonly result_id: string;
  readonly run_id: string;
  readonly unique_key: string;
  readonly event_id: string;
  readonly event_time: number;
  readonly message: string;
}

interface Job {
  readonly job: QueryJob;
  state: JobState;
  rows: readonly Readonly<Record<string, string | null>>[];
  resultExpired: boolean;
}

const DAY = 86_400e6;

/**
 * The warehouse that a join talks to. It knows the statements by their step label and does in memory what their SQL
 * says: commit-time windows, the days' constants, repeats, the reference table, the ledger. A job runs when it is waited
 * for, or when `runJobs` is called: its creator may be dead by then.
 */
export class FakeWarehouse {
  readonly jobs = new Map<string, Job>();
  readonly ledger: LedgerRow[] = [];
  readonly reference = new Map<string, string>();
  readonly #events: FakeTable<EventRow>;
  readonly #now: () => number;
  readonly #timeTravel: number;
  /** What becomes of a job when it runs: null lets it do its work. */
  fate: (job: QueryJob) => JobState | null = () => null;

  /** Whether a committed row can be seen by queries already. */
  isVisible: (commit: Committed<EventRow>) => boolean = () => true;
  /** Whether a job that is waited for ends within the wait. */
  endsInTime: (id: string) => boolean = () => true;

  constructor(events: FakeTable<EventRow>, now: () => number, timeTravel = 7 * DAY) {
    this.#events = events;
    this.#now = now;
    this.#timeTravel = timeTravel;
  }

  /** Runs every job that was created and did not run yet. */
  runJobs(): void {
    for (const id of this.jobs.keys()) this.#run(id);
  }

  /** Runs one job, unless it ran or was cancelled. */
  runJob(id: string): void {
    this.#run(id);
  }

  #run(id: string): JobState {
    const entry = this.jobs.get(id);
    if (entry === undefined) return { state: 'absent' };
    if (entry.state.state !== 'running') return entry.state;
    const failure = failsAlways(entry.job) ?? this.fate(entry.job) ?? this.#invalid(entry.job);
    if (failure === null) {
      const before = this.ledger.length;
      entry.rows = this.#execute(entry.job);
      entry.state = { state: 'done', bytesProcessed: 0, bytesBilled: 0, insertedRows: this.ledger.length - before };
    } else entry.state = failure;
    return entry.state;
  }

  #state(id: string): JobState {
    return this.jobs.get(id)?.state ?? { state: 'absent' };
  }

  #invalid({ parameters }: QueryJob): JobState | null {
    const end = parameters['window_end'];
    const start = parameters['window_start'];
    if (start === undefined || end === undefined) return null;
    const bad = Number(end.value) > this.#now() || Number(start.value) < this.#now() - this.#timeTravel;
    return bad
      ? { state: 'failed', reason: 'invalidQuery', message: 'window outside time travel', curable: false }
      : null;
  }

  #execute(job: QueryJob): Job['rows'] {
    switch (job.labels['codaflow_step'] ?? '') {
      case 'probe': {
        const days = new Map<number, number>();
        for (const { row } of this.#reads(job)) days.set(dayOf(row), (days.get(dayOf(row)) ?? 0) + 1);
        return [...days].map(([day, events]) => ({ day: String(day), events: String(events) }));
      }
      case 'merge':
        this.#merge(job);
        return [];
      case 'read':
        return this.#read(job);
      default:
        return [{ events: String(this.#reads(job).length), dropped: '0', unmatched: '0', surplus: '0' }];
    }
  }

  #reads({ parameters, sql }: QueryJob): readonly Committed<EventRow>[] {
    const from = parameters['arrived_from'];
    const visible = this.#events.commits.filter(this.isVisible);
    const range = [parameters['range_from'], parameters['range_to']].map((one) => Number(one?.value));
    if (parameters['range_from'] !== undefined)
      return visible.filter(({ row }) => row.event_time >= range[0]! && row.event_time < range[1]!);
    if (from !== undefined) return visible.filter(({ row }) => row.ingest_time >= Number(from.value));
    const [start, end] = [Number(parameters['window_start']!.value), Number(parameters['window_end']!.value)];
    const days = constants(sql);
    return visible.filter(
      ({ time, row }) =>
        time >= start &&
        time < end &&
        (days === null || days.some((d) => row.event_time >= d.from && row.event_time < d.to)),
    );
  }

  #merge(job: QueryJob): void {
    const text = (name: string) => String(job.parameters[name]?.value);
    const first = new Map<string, Committed<EventRow>>();
    for (const commit of this.#reads(job)) {
      const identity = digest(commit.row.unique_key, commit.row.event_id);
      const other = first.get(identity);
      if (other === undefined || commit.row.ingest_time < other.row.ingest_time) first.set(identity, commit);
    }
    for (const { time, row } of first.values()) {
      const attribute = row.join_key === null ? undefined : this.reference.get(row.join_key);
      if (attribute === undefined && time > Number(job.parameters['wait_before']?.value ?? 0)) continue;
      const result_id = digest(text('join_name'), row.unique_key, row.event_id, row.event_time);
      if (this.ledger.some((l) => l.result_id === result_id)) continue;
      const { unique_key, event_id, event_time, payload } = row;
      const message = JSON.stringify({
        unique_key,
        event_id,
        payload,
        target_attribute: attribute ?? null,
        enriched: attribute !== undefined,
      });
      this.ledger.push({
        join_name: text('join_name'),
        result_id,
        run_id: text('run_id'),
        unique_key,
        event_id,
        event_time,
        message,
      });
    }
  }

  #read({ parameters, sql }: QueryJob): Job['rows'] {
    const value = (name: string) => String(parameters[name]!.value);
    const days = constants(sql) ?? [];
    return this.ledger
      .filter(
        (row) =>
          row.join_name === value('join_name') && row.run_id === value('run_id') && row.result_id > value('after'),
      )
      .filter((row) => days.some((d) => row.event_time >= d.from && row.event_time < d.to))
      .sort((a, b) => (a.result_id < b.result_id ? -1 : 1))
      .map(({ result_id, unique_key, event_id, message }) => ({ result_id, unique_key, event_id, message }));
  }

  /** The port of one instance. */
  port(gate: Gate): Warehouse {
    const call = async <T>(method: string, resource: string, effect: () => T): Promise<T> =>
      through(gate, { port: 'warehouse', method, resource }, effect);
    return {
      now: async () => call('now', '', this.#now),
      created: async (table) => call('created', table, () => 0),
      start: async (job) =>
        call('start', job.jobId, () => {
          if (this.jobs.has(job.jobId)) return 'exists';
          this.jobs.set(job.jobId, { job, state: { state: 'running' }, rows: [], resultExpired: false });
          return 'started';
        }),
      estimate: async () => call('estimate', '', () => 0),
      state: async (id) => call('state', id, () => this.#state(id)),
      wait: async (id) => call('wait', id, () => (this.endsInTime(id) ? this.#run(id) : this.#state(id))),
      cancel: async (id) =>
        call('cancel', id, () => {
          const entry = this.jobs.get(id);
          if (entry?.state.state === 'running')
            entry.state = { state: 'failed', reason: 'stopped', message: 'cancelled', curable: false };
        }),
      page: async (id, token, maxRows): Promise<ResultPage | null> =>
        call('page', id, () => {
          const entry = this.jobs.get(id);
          if (entry === undefined || entry.resultExpired) return null;
          if (entry.state.state === 'running') throw new TransientError('not_ready', `job ${id} still runs`);
          if (entry.state.state === 'failed') throw new PermanentError('statement_refused', entry.state.message);
          const at = Number(token ?? 0);
          const rows = entry.rows.slice(at, at + maxRows);
          return { rows, next: at + maxRows < entry.rows.length ? String(at + maxRows) : null };
        }),
    };
  }
}

/** The statement that only takes up a job's id. */
function failsAlways({ sql }: QueryJob): JobState | null {
  return sql.startsWith('SELECT ERROR(')
    ? { state: 'failed', reason: 'invalidQuery', message: 'taken up', curable: false }
    : null;
}

function dayOf(row: EventRow): number {
  return Math.floor(row.event_time / DAY);
}

/** The ranges of days that a statement names; null when it names none. */
function constants(sql: string): readonly { from: number; to: number }[] | null {
  const found = [...sql.matchAll(/>= TIMESTAMP '([^']+)' AND \S+ < TIMESTAMP '([^']+)'/g)];
  const micros = (text: string) => Date.parse(text.replace(' ', 'T').replace('+00', 'Z')) * 1000;
  return found.length === 0 ? null : found.map(([, from, to]) => ({ from: micros(from!), to: micros(to!) }));
}
