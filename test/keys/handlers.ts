import { loadConfig } from '../../functions/config.ts';
import type { EventRow, Micros, SummaryRow } from '../../functions/core/event.ts';
import * as finish from '../../functions/finish.ts';
import type { HttpAnswer } from '../../functions/http/handler.ts';
import * as ingest from '../../functions/ingest.ts';
import type { LogEntry } from '../../functions/log.ts';
import type { Message, Table } from '../../functions/ports.ts';
import * as sweep from '../../functions/sweep.ts';
import { FakeBus } from '../fakes/bus.ts';
import { fakeClock } from '../fakes/clock.ts';
import { OPEN, type PortCall } from '../fakes/gate.ts';
import { FakeStore } from '../fakes/store.ts';
import { FakeTable } from '../fakes/tables.ts';
import { FakeTasks } from '../fakes/tasks.ts';

/** A message as a subscription delivers it; what is left out is made up. */
export interface Pushed {
  readonly data: string | Uint8Array;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly messageId?: string;
  readonly deliveryAttempt?: number;
}

/** The three functions that act on keys, as one instance each, over fakes and a clock that stands still. */
export class Handlers {
  readonly clock;
  readonly store = new FakeStore();
  readonly bus = new FakeBus();
  readonly events: FakeTable<EventRow>;
  readonly summaries: FakeTable<SummaryRow>;
  readonly logged: LogEntry[] = [];
  /** Why the table of events refuses a row; null takes it. */
  refuse: (row: EventRow) => string | null = () => null;
  /** What happens before the effect of a call; one that throws prevents it. */
  onCall: (call: PortCall) => void = () => undefined;
  readonly #handlers;
  #messages = 0;

  /** @param events another table than the one in memory */
  constructor(start: Micros, settings: Readonly<Record<string, string>> = {}, events?: Table<EventRow>) {
    this.clock = fakeClock(start);
    this.events = new FakeTable<EventRow>(
      () => this.clock.now(),
      (row) => this.refuse(row),
    );
    this.summaries = new FakeTable<SummaryRow>(() => this.clock.now());
    const gate = { ...OPEN, before: async (call: PortCall) => this.onCall(call) };
    const ports = {
      clock: this.clock,
      store: this.store.port(gate),
      bus: this.bus.port(gate),
      events: events ?? this.events.port('events', gate),
      summaries: this.summaries.port('summaries', gate),
      tasks: new FakeTasks(() => this.clock.now()).port(gate),
    };
    const config = loadConfig({ PROJECT_ID: 'local-project', ...settings });
    const runtime = { config, ports, log: this.#log };
    this.#handlers = { ingest: ingest.create(runtime), finish: finish.create(runtime), sweep: sweep.create(runtime) };
  }

  readonly #log = (entry: LogEntry): void => void this.logged.push(entry);

  /** A delivery of an event; returns the status of the answer. */
  async ingest(event: object | string): Promise<number> {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    return this.deliver({ data });
  }

  /** A delivery of a message to `ingest`; returns the status of the answer. */
  async deliver(message: Pushed): Promise<number> {
    return (await this.#push('ingest', { attributes: {}, ...message })).status;
  }

  /** The body of a push to `ingest` as it is; returns the status of the answer. */
  async post(body: unknown): Promise<number> {
    return (await this.#call('ingest', body)).status;
  }

  /** A hint that names a key, as often as wanted at once. */
  async hint(key: string, times = 1): Promise<readonly number[]> {
    const data = JSON.stringify({ unique_key: key });
    const pushes = Array.from({ length: times }, () => this.#push('finish', { data, attributes: {} }));
    return (await Promise.all(pushes)).map(({ status }) => status);
  }

  /** Delivers the hints that were published since the last call, each `times` times, one after the other. */
  async deliverHints(times = 1): Promise<void> {
    const hints = this.bus.topics.get('completions')?.splice(0) ?? [];
    for (const hint of hints) for (let i = 0; i < times; i++) await this.#push('finish', hint);
  }

  sweep(): Promise<HttpAnswer> {
    return this.#call('sweep', null);
  }

  /** Lets time pass in which the scheduler and Pub/Sub do their work every `step`. */
  async pass(duration: Micros, step: Micros): Promise<void> {
    for (const end = this.clock.now() + duration; this.clock.now() < end;) {
      this.clock.advance(step);
      await this.sweep();
      await this.deliverHints();
    }
  }

  /** Summaries of a key as `revision state`, in the order of their writing, repeats of a row left out. */
  summariesOf(key: string): readonly string[] {
    const rows = this.summaries.commits.map(({ row }) => row).filter((row) => row.unique_key === key);
    return [...new Set(rows.map(({ revision, state }) => `${revision} ${state}`))];
  }

  #push(name: 'ingest' | 'finish', pushed: Message & Pushed): Promise<HttpAnswer> {
    const { data, attributes, messageId = `m${++this.#messages}`, deliveryAttempt = 1 } = pushed;
    const message = { data: Buffer.from(data).toString('base64'), attributes, messageId };
    return this.#call(name, { message, subscription: name, deliveryAttempt });
  }

  #call(name: 'ingest' | 'finish' | 'sweep', body: unknown): Promise<HttpAnswer> {
    return this.#handlers[name]({ method: 'POST', path: '/', headers: {}, body, rawBody: null }, this.#log);
  }
}
