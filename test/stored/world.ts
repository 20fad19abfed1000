import { loadConfig, type Config } from '../../functions/config.ts';
import type { EventRow, Micros, SummaryRow } from '../../functions/core/event.ts';
import { decodeCursor } from '../../functions/core/join/cursor-codec.ts';
import { parseJoin } from '../../functions/core/join/settings.ts';
import * as finish from '../../functions/finish.ts';
import type { Handler, HttpAnswer } from '../../functions/http/handler.ts';
import * as ingest from '../../functions/ingest.ts';
import { runBackfill } from '../../functions/join/backfill.ts';
import type { JoinContext } from '../../functions/join/context.ts';
import { runJoin } from '../../functions/join/run.ts';
import type { LogEntry } from '../../functions/log.ts';
import * as poll from '../../functions/poll.ts';
import type { Document, Message, Ports } from '../../functions/ports.ts';
import * as sweep from '../../functions/sweep.ts';
import { FakeBus } from '../fakes/bus.ts';
import { fakeClock } from '../fakes/clock.ts';
import { OPEN, type Gate, type PortCall } from '../fakes/gate.ts';
import { FakeStore } from '../fakes/store.ts';
import { FakeTable } from '../fakes/tables.ts';
import { FakeTasks } from '../fakes/tasks.ts';
import { FakeWarehouse } from '../fakes/warehouse.ts';

export const MINUTE = 60e6;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const KEY = 'order/1 é';

const SETTINGS = { PROJECT_ID: 'local-project', PROBE_HOSTS: 'api.example.com', SUMMARY_FIELDS: '/amount,/deep/0/x', JOIN_PAGE: '2' }; // prettier-ignore

/** All functions as one instance, over ports in memory. */
export class World {
  readonly config: Config;
  readonly clock = fakeClock();
  readonly store = new FakeStore();
  readonly bus = new FakeBus();
  readonly tasks = new FakeTasks(() => this.clock.now());
  readonly events = new FakeTable<EventRow>(() => this.clock.now());
  readonly summaries = new FakeTable<SummaryRow>(() => this.clock.now());
  readonly warehouse = new FakeWarehouse(this.events, () => this.clock.now());
  readonly logged: LogEntry[] = [];
  /** What the probe of a watch is told. */
  status = 'doing';
  readonly #handlers: Readonly<Record<'ingest' | 'finish' | 'sweep' | 'poll', Handler>>;
  readonly #name: string;
  readonly #ports: Ports;
  #ids = 0;
  #messages = 0;
  #crash: { readonly at: (call: PortCall) => boolean; readonly died: () => void } | null = null;

  /** @param name makes the random ids differ from those of other worlds */
  constructor(name: string, settings: Readonly<Record<string, string>> = {}) {
    this.#name = name;
    this.config = loadConfig({ ...SETTINGS, ...settings });
    this.warehouse.reference.set('known', 'Known');
    this.#ports = this.#createPorts();
    const runtime = { config: this.config, ports: this.#ports, log: this.#log };
    this.#handlers = {
      ingest: ingest.create(runtime),
      finish: finish.create(runtime),
      sweep: sweep.create(runtime),
      poll: poll.create(runtime),
    };
  }

  readonly #log = (entry: LogEntry): void => void this.logged.push(entry);

  #createPorts(): Ports {
    const gate: Gate = { ...OPEN, before: async (call) => (this.#crash?.at(call) === true ? this.#die() : undefined) };
    return {
      clock: { now: () => this.clock.now(), sleep: async () => undefined },
      ids: { random: () => `${this.#name}-${++this.#ids}` },
      store: this.store.port(gate),
      bus: this.bus.port(gate),
      events: this.events.port('events', gate),
      summaries: this.summaries.port('summaries', gate),
      warehouse: this.warehouse.port(gate),
      tasks: this.tasks.port(gate),
      probes: {
        http: async () => ({ status: 200, body: JSON.stringify({ status: this.status }) }),
        job: () => Promise.reject(new Error('no jobs here')),
      },
    };
  }

  #die(): Promise<never> {
    this.#crash?.died();
    return new Promise(() => undefined);
  }

  /** Runs something up to the call at which its instance dies. */
  async crash(at: (call: PortCall) => boolean, work: () => Promise<unknown>): Promise<void> {
    const { promise: dead, resolve: died } = Promise.withResolvers<'dead'>();
    this.#crash = { at, died: () => died('dead') };
    const ended = await Promise.race([work(), dead]);
    this.#crash = null;
    if (ended !== 'dead') throw new Error('nothing crashed');
  }

  /** A delivery of an event of the key; returns the status of the answer. */
  ingest(id: string, event: Readonly<Record<string, unknown>> = {}): Promise<number> {
    const timestamp = new Date(this.clock.now() / 1000).toISOString();
    const data = JSON.stringify({ unique_key: KEY, event_id: id, event_status: 'started', timestamp, ...event });
    return this.push('ingest', { data, attributes: {} });
  }

  async push(name: 'ingest' | 'finish', { data, attributes }: Message): Promise<number> {
    const message = { data: Buffer.from(data).toString('base64'), attributes, messageId: `m${++this.#messages}` };
    return (await this.#call(name, { message, subscription: name, deliveryAttempt: 1 })).status;
  }

  /** Delivers the hints that wait to `finish`. */
  async hints(): Promise<void> {
    for (const hint of this.bus.topics.get('completions')?.splice(0) ?? []) await this.push('finish', hint);
  }

  sweep(): Promise<HttpAnswer> {
    return this.#call('sweep', null);
  }

  /** Time passes, with the scheduler and the deliveries that it leads to. */
  async pass(duration: Micros, step: Micros = MINUTE): Promise<void> {
    for (const end = this.clock.now() + duration; this.clock.now() < end;) {
      this.clock.advance(step);
      await this.sweep();
      await this.hints();
      await this.runTasks();
    }
  }

  #call(name: 'ingest' | 'finish' | 'sweep', body: unknown): Promise<HttpAnswer> {
    return this.#handlers[name]({ method: 'POST', path: '/', headers: {}, body, rawBody: null }, this.#log);
  }

  /** A request to `poll`, of a task when it has a name. */
  poll(body: string, task?: string): Promise<HttpAnswer> {
    const headers = task === undefined ? {} : { 'x-cloudtasks-taskname': task, 'x-cloudtasks-taskretrycount': '0' };
    const request = { method: 'POST', path: '/', query: '', headers, body: undefined, rawBody: Buffer.from(body) };
    return this.#handlers.poll(request, this.#log);
  }

  async runTasks(): Promise<void> {
    for (const { name, body } of this.tasks.take(this.clock.now())) await this.poll(body, name);
  }

  /** Rows in the table of events. */
  insert(...rows: readonly (readonly [id: string, time: Micros])[]): void {
    const ingest_time = this.clock.now();
    this.events.append(
      rows.map(([id, event_time]) => ({ event_id: id, unique_key: KEY, event_status: 's', event_time, join_key: 'known', sequence: null, payload: null, extra: null, attributes: null, message_id: id, publish_time: null, ingest_time })), // prettier-ignore
    );
  }

  #join(): JoinContext {
    const { config } = this;
    const join = parseJoin('enrich', 'SELECT * FROM new_events', {}, {
      topic: 'results',
      lookback: config.joinLookback,
      step: config.joinStep,
      lag: config.joinLag,
      wait: config.joinWait,
      maxBytesBilled: config.maxBytesBilled,
    }); // prettier-ignore
    return { join, tables: { source: 'p.d.events', ledger: 'p.d.joined' }, config, log: this.#log, ports: this.#ports };
  }

  tick() {
    return runJoin(this.#join());
  }

  backfill(from: Micros, to: Micros, days: number) {
    return runBackfill(this.#join(), { from, to, days });
  }

  /** Event ids of the join's results, one for each result id. */
  results(): string[] {
    const byId = new Map(this.bus.published('results').map(({ attributes, data }) => [attributes['result_id'], data]));
    return [...byId.values()].map((data) => (JSON.parse(String(data)) as { event_id: string }).event_id).sort();
  }

  /** The one document of a collection. */
  document(collection: string): Document {
    const found = [...this.store.dump()].filter(([path]) => new RegExp(`^${collection}/[^/]+$`).test(path));
    if (found.length !== 1) throw new Error(`${found.length} documents in ${collection}`);
    return found[0]![1];
  }

  cursor() {
    return decodeCursor(this.document('cursors'));
  }

  /** Distinct summaries of the key, by revision. */
  rows(): readonly SummaryRow[] {
    return [...new Map(this.summaries.commits.map(({ row }) => [row.revision, row])).values()];
  }
}
