import { hash } from 'node:crypto';
import { loadConfig, type Config } from '../../functions/config.ts';
import type { EventRow, Micros, SummaryRow } from '../../functions/core/event.ts';
import type { HttpAnswer } from '../../functions/http/handler.ts';
import type { LogEntry } from '../../functions/log.ts';
import type { Message, Task } from '../../functions/ports.ts';
import { FakeBus } from '../fakes/bus.ts';
import { fakeClock, START } from '../fakes/clock.ts';
import { FakeProbes, type Look, type Standing } from '../fakes/probes.ts';
import { FakeStore, type Changes } from '../fakes/store.ts';
import { FakeTable } from '../fakes/tables.ts';
import { FakeWarehouse } from '../fakes/warehouse.ts';
import type { Director } from './director.ts';
import type { Call, Fault } from './faults.ts';
import { Instance } from './instance.ts';
import { SETTINGS, type Plan, type PlannedMessage, type PlannedWatch } from './plan.ts';
import { beginProducers } from './producers.ts';
import { Queue } from './queue.ts';
import { Subscription, type Held } from './subscription.ts';
import { Tasks } from './tasks.ts';

const MINUTE = 60e6;
/** Faults and producers are done at the latest then; after so much more time everything must be quiet. */
const PATIENCE = 8 * 60 * MINUTE;
const MOST_STEPS = 60_000;
/** Steps while the clock stands still. */
const MOST_AT_ONCE = 50_000;

/** What watches a world while it runs; each throws where something is wrong. */
export interface Watcher {
  committed(changes: Changes, now: Micros): void;
  /** Pub/Sub was told to forget a message of this topic. */
  acknowledged(topic: 'events' | 'watches', held: Held): void;
  published(topic: string, message: Message): void;
  /** A task of a watch was created. */
  armed(task: Task): void;
  looked(look: Look): void;
  /** Whoever asked for this was answered. */
  answered(planned: PlannedMessage, answer: HttpAnswer): void;
}

/** All of the system in one thread under a virtual clock: producers, Pub/Sub, scheduler, instances, stores. */
export class World {
  readonly plan: Plan;
  readonly director: Director;
  readonly config: Config;
  readonly clock = fakeClock();
  readonly tasks = new Tasks();
  readonly store = new FakeStore();
  readonly bus = new FakeBus();
  readonly events = new FakeTable<EventRow>(
    () => this.clock.now(),
    (row) => (row.extra?.includes('"refused"') === true ? 'the value is not allowed' : null),
  );
  readonly summaries = new FakeTable<SummaryRow>(() => this.clock.now());
  readonly warehouse: FakeWarehouse;
  readonly instances: Instance[];
  readonly subscriptions: Readonly<Record<'events' | 'completions' | 'watches', Subscription>>;
  readonly queues = { poll: new Queue(this, 'poll'), submit: new Queue(this, 'submit') };
  readonly probes: FakeProbes;
  readonly watcher: Watcher;
  /** Whether anything is watched. */
  readonly watches: boolean;
  readonly logged: LogEntry[] = [];
  readonly log = (entry: LogEntry): void => void this.logged.push(entry);
  /** Everything that happened, for people. */
  readonly trace: string[] = [];
  readonly callsMade: Call[] = [];
  /** The instance whose call has its effect right now. */
  acting: Instance | null = null;
  faultsMet = 0;
  /** When the last thing happened that is out of the ordinary. */
  lastFault: Micros = START;
  #ids = 0;
  #surprise: Error | null = null;

  constructor(plan: Plan, director: Director, watch: (world: World) => Watcher) {
    this.plan = plan;
    this.director = director;
    this.config = loadConfig({ ...SETTINGS, ...plan.settings });
    this.warehouse = new FakeWarehouse(this.events, () => this.clock.now(), this.config.timeTravel);
    this.watches = plan.messages.some((planned) => 'watch' in planned || 'cancel' in planned);
    this.probes = new FakeProbes(() => this.clock.now(), (name, now) => standingOf(plan, name, now)); // prettier-ignore
    const watcher = watch(this);
    const guarded =
      <A extends unknown[]>(check: (...args: A) => void) =>
      (...args: A): void => {
        try {
          check(...args);
        } catch (error) {
          this.#surprise ??= error as Error;
        }
      };
    this.watcher = {
      committed: guarded((changes, now) => watcher.committed(changes, now)),
      acknowledged: guarded((topic, held) => watcher.acknowledged(topic, held)),
      published: guarded((topic, message) => watcher.published(topic, message)),
      armed: guarded((task) => watcher.armed(task)),
      looked: guarded((look) => watcher.looked(look)),
      answered: guarded((planned, answer) => watcher.answered(planned, answer)),
    };
    this.store.onCommit = (changes) => this.watcher.committed(changes, this.clock.now());
    this.subscriptions = {
      events: new Subscription(this, 'ingest', (held) => this.watcher.acknowledged('events', held)),
      completions: new Subscription(this, 'finish'),
      watches: new Subscription(this, 'poll', (held) => this.watcher.acknowledged('watches', held)),
    };
    this.bus.onPublish = (topic, message, id) => {
      this.watcher.published(topic, message);
      if (topic === 'events' || topic === 'completions' || topic === 'watches') this.subscriptions[topic].take(message, id); // prettier-ignore
    };
    this.queues.poll.onCreate = (task) => this.watcher.armed(task);
    this.probes.onLook = (look) => this.watcher.looked(look);
    // Rows become visible to queries up to five minutes after their commit.
    this.warehouse.isVisible = ({ time, row }) => this.clock.now() >= time + (row.event_id.charCodeAt(1) % 6) * MINUTE;
    this.warehouse.endsInTime = () => this.director.endsInTime();
    this.warehouse.reference.set('known', 'Known');
    this.instances = Array.from({ length: plan.instances }, (_, place) => new Instance(this, place));
    this.#begin();
  }

  #begin(): void {
    beginProducers(this);
    this.#tick('sweep', MINUTE, START + MINUTE);
    if (this.plan.ttl) this.#expire(START + 10 * MINUTE);
    if (!this.plan.join) return;
    this.#tick('join', 2 * MINUTE, START);
    this.tasks.add('reference', START + 9 * MINUTE, () => this.warehouse.reference.set('later', 'Later'));
  }

  /** What is over is deleted some time later. */
  #expire(at: Micros): void {
    const run = (): void => {
      this.store.expire(this.clock.now());
      this.#expire(at + 10 * MINUTE);
    };
    this.tasks.add('ttl', at, run, { background: true });
  }

  #tick(entry: 'sweep' | 'join', every: Micros, at: Micros): void {
    const run = (): void => {
      for (let i = this.director.ticks(entry, (at - START) / MINUTE); i > 0; i--) {
        this.chooseInstance().serve(entry, `${entry} ${at} ${i}`, {}, () => undefined);
      }
      this.#tick(entry, every, at + every);
    };
    this.tasks.add(entry, at, run, { background: true });
  }

  randomId(): string {
    return (this.#ids++).toString(16).padStart(32, '0');
  }

  chooseInstance(): Instance {
    return this.instances[this.director.instance(this.instances.length)]!;
  }

  fault(about: Omit<Call, 'index'>): Fault {
    const call = { ...about, index: this.callsMade.length };
    this.callsMade.push(call);
    const fault = this.director.fault(call);
    if (fault.kind !== 'none') this.unusual(`  ! ${fault.kind}${'ms' in fault ? ` ${fault.ms} ms` : ''}`);
    return fault;
  }

  /** Notes something that is out of the ordinary. */
  unusual(line: string): void {
    this.faultsMet++;
    this.lastFault = this.clock.now();
    this.trace.push(line);
  }

  /** All that the instance was doing is lost; another one takes its place. */
  crash(instance: Instance): void {
    instance.alive = false;
    this.tasks.drop(instance);
    this.instances[instance.place] = new Instance(this, instance.place);
  }

  /** An error that no handler may end with. */
  surprise(where: string, error: unknown): void {
    this.#surprise ??= new Error(`${where} ended with an error of no known kind`, { cause: error });
  }

  /** Runs until nothing is left to do. @throws Error when something is wrong, or never comes to rest */
  async run(done: (world: World) => boolean): Promise<void> {
    const lastPublish = START + lastOf(this.plan) * 1000;
    let [since, still] = [this.clock.now(), 0];
    for (let steps = 0; ; steps++) {
      // All that the last step set going runs up to its next call of a port.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#surprise !== null) throw this.#surprise;
      const now = this.clock.now();
      const runnable = this.tasks.runnable(now);
      if (now > since) [since, still] = [now, 0];
      else if (still++ > MOST_AT_ONCE) throw new Error('something goes round and round while time stands still');
      if (runnable.length === 0) {
        if (this.#isQuiet() && done(this)) return;
        if (steps > MOST_STEPS || now > Math.max(lastPublish, this.lastFault) + PATIENCE) throw new Error('no rest');
        const sleeper = this.clock.nextSleeper() ?? Infinity;
        this.clock.set(Math.min(this.tasks.next() ?? Infinity, sleeper));
        continue;
      }
      const pause = this.director.pause();
      if (pause > 0) {
        this.unusual(`  ! ${pause} ms pass`);
        this.clock.advance(pause * 1000);
      }
      const task = runnable[this.director.next(runnable.length)]!;
      this.tasks.take(task);
      this.trace.push(`${((now - START) / 1e6).toFixed(3)} ${task.label}`);
      task.run();
    }
  }

  #isQuiet(): boolean {
    return this.tasks.pending().length === 0 && this.instances.every(({ requests }) => requests.size === 0);
  }

  traceHash(): string {
    return hash('sha256', this.trace.join('\n'), 'hex').slice(0, 16);
  }
}

/** When nothing comes from outside any more, in milliseconds after the start. */
function lastOf({ messages }: Plan): number {
  return Math.max(0, ...messages.map((one) => one.at + ('watch' in one ? one.watch.timeout * 1000 : 0)));
}

/** How a watched thing stands. All watches of one id wait for the same. */
function standingOf({ messages }: Plan, name: string, now: Micros): Standing {
  const watch = messages.flatMap((one): PlannedWatch[] =>
    'watch' in one && one.watch.id === name ? [one.watch] : [],
  )[0]!;
  const at = (now - START) / 1000;
  const trouble = watch.trouble?.find(({ from, until }) => at >= from && at < until);
  if (trouble !== undefined) return trouble.as;
  if (watch.readyAt !== null && at >= watch.readyAt) return 'ready';
  return watch.lostAt !== undefined && at >= watch.lostAt ? 'lost' : 'open';
}
