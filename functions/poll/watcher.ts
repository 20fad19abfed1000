import { PermanentError, toError } from '../core/errors.ts';
import { encodeWatch } from '../core/watch/codec.ts';
import { outcomeEvent } from '../core/watch/event.ts';
import { checkTarget, type HostRules } from '../core/watch/hosts.ts';
import { judgeHttp, judgeJob } from '../core/watch/judge.ts';
import type { Probe, WatchSpec } from '../core/watch/spec.ts';
import type { WatchRules, WatchState } from '../core/watch/state.ts';
import {
  cancelWatch,
  confirmOutcome,
  createWatch,
  recordAttempt,
  type Created,
  type Found,
} from '../core/watch/watch.ts';
import type { Config } from '../config.ts';
import { attempt } from '../keys/attempt.ts';
import type { Log } from '../log.ts';
import type { Ports } from '../ports.ts';
import { readWatch, watchPath } from './documents.ts';
import { lookTask, type Look } from './task.ts';

export type WatchPorts = Pick<Ports, 'clock' | 'store' | 'bus' | 'tasks' | 'probes'>;
export type WatchSettings = HostRules & Pick<Config, 'watchSlack' | 'retention' | 'shards' | 'eventFields'>;

export type Looked =
  /** The watch is not there, or is another one by now. */
  | 'gone'
  /** Another attempt is the next one. */
  | 'stale'
  /** Not complete yet; the next attempt is armed. */
  | 'pending'
  /** The outcome is published. */
  | 'done'
  /** Pub/Sub will not take the event; it is tried again ever more rarely. */
  | 'refused';

/** Transactions before one counts as failed. */
const ATTEMPTS = 4;

/**
 * Watches: created, looked at, cancelled. The state decides, a task only says look; whatever is lost between two calls
 * is found again by the wake-up in the state.
 */
export function createWatcher(ports: WatchPorts, settings: WatchSettings) {
  const { clock, store, bus, tasks, probes } = ports;
  const rules: WatchRules = { slack: settings.watchSlack, retention: settings.retention };

  /** Changes a watch in a transaction; null leaves it. Resolves to what is stored then. */
  function change(watchId: string, to: (state: WatchState) => WatchState | null): Promise<WatchState | null> {
    const path = watchPath(watchId);
    return attempt(ATTEMPTS, () =>
      store.transaction(async (tx) => {
        const state = readWatch((await tx.get([path]))[0]);
        const next = state === null ? null : to(state);
        if (next !== null) tx.set(path, encodeWatch(next, settings.shards));
        return next ?? state;
      }),
    );
  }

  /** Creates the next attempt's task. */
  async function arm(state: WatchState): Promise<void> {
    await tasks.create(lookTask(state, clock.now(), state.attempts));
  }

  /** Goes on for a caller to whom only the state matters: the wake-up in it makes up for what fails here. */
  async function tryToGoOn(state: WatchState, log: Log): Promise<void> {
    try {
      await goOn(state, log);
    } catch (thrown) {
      const { watchId } = state.spec;
      log({ severity: 'WARNING', event: 'poll.left_to_sweep', watch_id: watchId, error: toError(thrown) });
    }
  }

  async function look(probe: Probe): Promise<Found> {
    try {
      switch (probe.type) {
        case 'http':
          return judgeHttp(probe, await probes.http(probe));
        case 'bigquery_job':
          return judgeJob(await probes.job(probe));
      }
    } catch (thrown) {
      const { message } = toError(thrown);
      if (thrown instanceof PermanentError) return { kind: 'failed', reason: message, answer: null };
      return { kind: 'pending', note: message };
    }
  }

  /** Goes on by the state: publishes what is decided, else arms the next attempt. */
  async function goOn(state: WatchState, log: Log): Promise<Looked> {
    if (state.confirmed) return 'done';
    if (state.outcome === null) {
      await arm(state);
      return 'pending';
    }
    const { watchId } = state.spec;
    const data = outcomeEvent(state, settings.eventFields)!;
    const [published] = await bus.publish('events', [{ data, attributes: {} }]);
    if (published instanceof PermanentError) {
      log({ severity: 'ERROR', event: 'poll.refused', watch_id: watchId, message: published.message });
      return 'refused';
    }
    if (published instanceof Error) throw published;
    await change(watchId, (now) => (now.created === state.created ? confirmOutcome(now, clock.now(), rules) : null));
    log({
      severity: 'INFO',
      event: 'poll.done',
      watch_id: watchId,
      outcome: state.outcome.kind,
      attempts: state.attempt,
    });
    return 'done';
  }

  return {
    /**
     * Creates a watch, or finds that it is there.
     *
     * @throws PermanentError invalid_watch when its probe may not go where it wants to
     */
    async create(spec: WatchSpec, log: Log): Promise<Created> {
      if (spec.probe.type === 'http') checkTarget(spec.probe, settings);
      const path = watchPath(spec.watchId);
      const result = await attempt(ATTEMPTS, () =>
        store.transaction(async (tx) => {
          const known = readWatch((await tx.get([path]))[0]);
          const created = createWatch(known, spec, clock.now(), rules);
          if (created.kind === 'created') tx.set(path, encodeWatch(created.state, settings.shards));
          return created;
        }),
      );
      // Also for a watch that is there: whoever created it may have died before its first task.
      if (result.kind !== 'conflict') await tryToGoOn(result.state, log);
      return result;
    },

    /** What a task asks for. Rejects when a repeat may help. */
    async look(task: Look, log: Log): Promise<Looked> {
      const state = readWatch(await store.get(watchPath(task.watchId)));
      if (state === null || state.created !== task.generation) return 'gone';
      if (state.outcome !== null) return goOn(state, log);
      if (state.attempt !== task.attempt) {
        // The one before the next: it was taken, but perhaps nobody lived to arm the next.
        if (state.attempt === task.attempt + 1) await arm(state);
        return 'stale';
      }
      const looked = clock.now();
      const found = await look(state.spec.probe);
      const after = await change(task.watchId, (now) =>
        now.created === task.generation ? recordAttempt(now, task.attempt, found, looked, clock.now(), rules) : null,
      );
      return after === null || after.created !== task.generation ? 'gone' : goOn(after, log);
    },

    /** Cancels a watch; one that has an outcome keeps it. Null when there is no such watch. */
    async cancel(watchId: string, log: Log): Promise<WatchState | null> {
      const state = await change(watchId, (now) => cancelWatch(now, clock.now()));
      if (state !== null) await tryToGoOn(state, log);
      return state;
    },

    /** The state of a watch; null when there is none. */
    async read(watchId: string): Promise<WatchState | null> {
      return readWatch(await store.get(watchPath(watchId)));
    },
  };
}

export type Watcher = ReturnType<typeof createWatcher>;
