import { toError } from '../core/errors.ts';
import type { Rules } from '../core/sequence/rules.ts';
import type { State } from '../core/sequence/state.ts';
import { cutIntoWaves } from '../ingest/chunks.ts';
import type { End } from '../end.ts';
import { GroupCommit } from '../ingest/group.ts';
import type { Ports, Store, Transaction } from '../ports.ts';
import { attempt } from './attempt.ts';
import { readState, sequencePath, writeState } from './documents.ts';
import { eachLimited } from './limit.ts';

/** Decides about one key; called again where a transaction is repeated. The very state it was given is not stored. */
export type Decide<T> = (state: State | null) => { readonly state: State | null; readonly result: T };

interface Change {
  readonly uniqueKey: string;
  readonly apply: (state: State | null) => State | null;
  /** A transaction with this change failed. */
  readonly failed: (error: Error) => void;
}

type Fate = Error | null;

/** Transactions of one key before its change counts as failed. */
const ATTEMPTS = 4;
/** Keys of one transaction, and transactions side by side. */
const KEYS = 20;
const WIDTH = 8;
/** Changes of one group, and changes that may wait for theirs. */
const LIMITS = { groupBytes: 400, pendingBytes: 4000, itemBytes: 0, budget: 25e6, calls: 1, overtakeMs: 10_000 };

/**
 * Changes the states of keys: alone at once when nothing is under way, else together with what came in the meantime,
 * up to 20 keys in one transaction. After any failure of such a transaction each change has one of its own, so that no
 * key takes its neighbours with it.
 */
export class StateChanges {
  readonly #ports: Pick<Ports, 'store' | 'clock'>;
  readonly #rules: Rules;
  readonly #groups: GroupCommit<Change, Fate>;

  constructor(ports: Pick<Ports, 'store' | 'clock'>, rules: Rules) {
    this.#ports = ports;
    this.#rules = rules;
    this.#groups = new GroupCommit((changes, end) => this.#commit(changes, end), LIMITS, ports.clock);
  }

  /**
   * Resolves to the result of the decision that was committed, by `end`.
   *
   * @param failed hears of every transaction that failed with this change in it
   * @throws the error of the last transaction, TransientError overloaded
   */
  async run<T>(
    uniqueKey: string,
    decide: Decide<T>,
    end: End,
    failed: (error: Error) => void = () => undefined,
  ): Promise<T> {
    let latest: { readonly result: T } | null = null;
    const apply = (state: State | null): State | null => {
      const decided = decide(state);
      latest = decided;
      return decided.state;
    };
    const fate = await this.#groups.submit({ uniqueKey, apply, failed }, 1, end);
    if (fate !== null) throw fate;
    return (latest as unknown as { readonly result: T }).result;
  }

  async #commit(changes: readonly Change[], end: End): Promise<readonly Fate[]> {
    const { store } = end.guard(this.#ports);
    const fates = new Map<Change, Fate>();
    const waves = cutIntoWaves(changes, ({ uniqueKey }) => uniqueKey, { keys: KEYS, events: KEYS });
    for (const wave of waves) {
      await eachLimited(wave, WIDTH, async (chunk) => {
        if (chunk.length === 1 || !(await this.#together(chunk, store))) await this.#alone(chunk, store, fates);
      });
    }
    return changes.map((change) => fates.get(change) ?? null);
  }

  async #together(chunk: readonly Change[], store: Store): Promise<boolean> {
    try {
      await this.#transact(chunk, store);
      return true;
    } catch {
      return false;
    }
  }

  async #alone(chunk: readonly Change[], store: Store, fates: Map<Change, Fate>): Promise<void> {
    await eachLimited(chunk, WIDTH, async (change) => {
      try {
        await attempt(ATTEMPTS, () => this.#transact([change], store));
      } catch (thrown) {
        fates.set(change, toError(thrown));
      }
    });
  }

  async #transact(chunk: readonly Change[], store: Store): Promise<void> {
    try {
      await store.transaction((tx) => this.#apply(tx, chunk));
    } catch (thrown) {
      for (const { failed } of chunk) failed(toError(thrown));
      throw thrown;
    }
  }

  async #apply(tx: Transaction, chunk: readonly Change[]): Promise<void> {
    const paths = [...new Set(chunk.map(({ uniqueKey }) => sequencePath(uniqueKey)))].sort();
    const documents = await tx.get(paths);
    const before = new Map(paths.map((path, index) => [path, readState(documents[index])]));
    const after = new Map(before);
    for (const { uniqueKey, apply } of chunk) {
      const path = sequencePath(uniqueKey);
      after.set(path, apply(after.get(path) ?? null));
    }
    for (const [path, state] of after) {
      if (state !== null && state !== before.get(path)) tx.set(path, writeState(state, this.#rules));
    }
  }
}
