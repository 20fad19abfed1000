import { AmbiguousError, TransientError } from '../../functions/core/errors.ts';
import type { Config } from '../../functions/config.ts';
import { parseJoin, type JoinSettings } from '../../functions/core/join/settings.ts';
import * as finish from '../../functions/finish.ts';
import type { Handler, HttpAnswer, HttpRequest } from '../../functions/http/handler.ts';
import * as ingest from '../../functions/ingest.ts';
import { untilTimeout } from '../../functions/join/end.ts';
import { runJoin } from '../../functions/join/run.ts';
import type { Clock, Ports, Store } from '../../functions/ports.ts';
import * as poll from '../../functions/poll.ts';
import * as submit from '../../functions/submit.ts';
import * as sweep from '../../functions/sweep.ts';
import type { Gate, Part, PortCall } from '../fakes/gate.ts';
import { hasEffect, type Call } from './faults.ts';
import type { World } from './world.ts';

export type Entry = Call['entry'];

/** A promise of whoever died: it never settles. One for each, so that nothing holds what waits for it. */
const never = (): Promise<never> => new Promise(() => undefined);

/** Where nothing is watched a look for it is no call that could fail. */
function withoutWatches(store: Store): Store {
  return { ...store, due: async (query) => (query.collection === 'watches' ? [] : store.due(query)) };
}

/** The functions of one running instance, over ports whose every call is in the hands of the world. */
export class Instance {
  readonly place: number;
  alive = true;
  /** Requests under way. */
  readonly requests = new Set<string>();
  readonly #world: World;
  readonly #handlers: Readonly<Record<Entry, Handler>>;

  constructor(world: World, place: number) {
    this.#world = world;
    this.place = place;
    const { config } = world;
    const runtime = (entry: Entry) => ({ config, ports: this.#ports(entry), log: world.log });
    const joinPorts = this.#ports('join');
    this.#handlers = {
      ingest: ingest.create(runtime('ingest')),
      finish: finish.create(runtime('finish')),
      sweep: sweep.create(runtime('sweep')),
      submit: submit.create(runtime('submit')),
      poll: poll.create(runtime('poll')),
      join: async () => {
        const ports = untilTimeout(joinPorts, config);
        await runJoin({ join: joinOf(config), tables: TABLES, config, ports, log: world.log });
        return { status: 200 };
      },
    };
  }

  /** Serves a request; `answer` is called unless the instance dies first. */
  serve(entry: Entry, label: string, given: Partial<HttpRequest>, answer: (answer: HttpAnswer) => void): void {
    const request = { method: 'POST', path: '/', headers: {}, body: null, rawBody: null, ...given };
    this.requests.add(label);
    const ended = (result: HttpAnswer): void => {
      if (!this.alive) return;
      this.requests.delete(label);
      answer(result);
    };
    this.#handlers[entry](request, this.#world.log).then(ended, (error: unknown) => {
      if (!(error instanceof AmbiguousError || error instanceof TransientError)) this.#world.surprise(label, error);
      ended({ status: 500 });
    });
  }

  #ports(entry: Entry): Ports {
    const { store, bus, events, summaries, warehouse, queues, probes, watches } = this.#world;
    const gate = this.#gate(entry);
    return {
      clock: this.#clock(),
      ids: { random: () => this.#world.randomId() },
      store: watches ? store.port(gate) : withoutWatches(store.port(gate)),
      bus: bus.port(gate),
      events: events.port('events', gate),
      summaries: summaries.port('summaries', gate),
      warehouse: warehouse.port(gate),
      tasks: queues.poll.tasks.port(gate),
      probes: probes.port(gate),
    };
  }

  #clock(): Clock {
    const { clock, plan } = this.#world;
    const skew = (plan.skew[this.place] ?? 0) * 1000;
    return {
      now: () => clock.now() + skew,
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        return this.alive ? undefined : never();
      },
    };
  }

  #gate(entry: Entry): Gate {
    const run = <T>(portCall: PortCall, effect: (part?: Part) => T): Promise<T> =>
      this.alive ? this.#call({ ...portCall, entry }, effect) : never();
    return { before: async () => undefined, after: async () => undefined, run };
  }

  #call<T>(about: PortCall & { entry: Entry }, effect: (part?: Part) => T): Promise<T> {
    const world = this.#world;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const label = `${this.place}.${about.entry} ${about.port}.${about.method} ${about.resource}`;
    const later = (ms: number, what: string, run: () => void, orphan = false) =>
      world.tasks.add(`${label} ${what}`, world.clock.now() + ms * 1000, run, orphan ? {} : { instance: this });
    /** The effect, told by `tell` once it happened; what the effect itself throws is always told. */
    const happen = (tell: (result: T) => void, part?: Part): void => {
      let result: T;
      world.acting = this;
      try {
        result = effect(part);
      } catch (error) {
        reject(error);
        return;
      } finally {
        world.acting = null;
      }
      tell(result);
    };
    const lost = (): void =>
      reject(
        hasEffect(about)
          ? new AmbiguousError('the answer was lost')
          : new TransientError('deadline_exceeded', 'no answer'),
      );

    later(0, '', () => {
      const fault = world.fault({ ...about, instance: this.place });
      switch (fault.kind) {
        case 'none':
          return happen(resolve);
        case 'refused':
          return reject(new TransientError('unavailable', 'refused'));
        case 'answer lost':
          return happen(lost);
        case 'crash before':
          return world.crash(this);
        case 'crash after':
          return happen(() => world.crash(this));
        case 'stalled':
          return later(fault.ms, 'stalled', () => happen(resolve));
        case 'answered late':
          return happen((result) => later(fault.ms, 'answered late', () => resolve(result)));
        case 'happens later':
          later(fault.ms, 'happens later', () => happen(() => undefined), true);
          return lost();
        case 'never arrived':
          return lost();
        case 'partly':
          return happen(resolve, fault.part);
        default:
          throw new Error(`a call cannot meet ${fault.kind}`);
      }
    });
    return promise;
  }
}

const TABLES = { source: 'p.d.events', ledger: 'p.d.joined' };

function joinOf(config: Config): JoinSettings {
  return parseJoin('enrich', 'SELECT * FROM new_events', { start: 'earliest' }, {
    topic: 'results',
    lookback: config.joinLookback,
    step: config.joinStep,
    lag: config.joinLag,
    wait: config.joinWait,
    maxBytesBilled: config.maxBytesBilled,
  }); // prettier-ignore
}
