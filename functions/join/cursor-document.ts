import { decodeCursor, encodeCursor } from '../core/join/cursor-codec.ts';
import { fenced, NEW_CURSOR, release, renew, takeLease, type Cursor } from '../core/join/cursor.ts';
import { AmbiguousError, TransientError } from '../core/errors.ts';
import type { Clock, Store } from '../ports.ts';

const ATTEMPTS = 5;

/** The document of one join's cursor. Changes are repeated when they met another writer or lost their answer. */
export class CursorDocument {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #path: string;
  constructor(store: Store, clock: Clock, joinName: string) {
    this.#store = store;
    this.#clock = clock;
    this.#path = `cursors/${joinName}`;
  }

  /** Applies a change that is harmless to repeat; null when the change refuses. */
  async change(change: (cursor: Cursor) => Cursor | null): Promise<Cursor | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#store.transaction(async (tx) => {
          const [document] = await tx.get([this.#path]);
          const before = document == null ? NEW_CURSOR : decodeCursor(document);
          const after = change(before);
          if (after !== null && after !== before) tx.set(this.#path, encodeCursor(after));
          return after;
        });
      } catch (error) {
        const repeatable = error instanceof AmbiguousError || error instanceof TransientError;
        if (!repeatable || attempt === ATTEMPTS) throw error;
        await this.#clock.sleep(50 * 2 ** attempt);
      }
    }
  }

  /** Takes the lease; null when another live run holds it. */
  async take(owner: string, durationMicros: number): Promise<HeldCursor | null> {
    const cursor = await this.change((c) => takeLease(c, owner, this.#clock.now(), durationMicros));
    return cursor === null ? null : new HeldCursor(this, this.#clock, cursor, durationMicros);
  }
}

/** The cursor under a lease that this run took. Every save renews the lease and fails once another run has it. */
export class HeldCursor {
  readonly #document: CursorDocument;
  readonly #clock: Clock;
  readonly #token: number;
  readonly #duration: number;
  /** As of the last save. */
  cursor: Cursor;
  constructor(document: CursorDocument, clock: Clock, cursor: Cursor, durationMicros: number) {
    this.#document = document;
    this.#clock = clock;
    this.#token = cursor.token;
    this.#duration = durationMicros;
    this.cursor = cursor;
  }

  /** @throws TransientError `lease_lost` when another run took over: this one must stop */
  async save(change: (cursor: Cursor) => Cursor | null = (c) => c): Promise<Cursor> {
    const saved = await this.#document.change((cursor) =>
      fenced(cursor, this.#token, (c) => {
        const changed = change(c);
        return changed === null ? null : renew(changed, this.#clock.now(), this.#duration);
      }),
    );
    if (saved === null) throw new TransientError('lease_lost', 'another run took the lease; this one stops');
    this.cursor = saved;
    return saved;
  }

  /** Gives the lease back; harmless when it was lost. */
  async release(): Promise<void> {
    await this.#document.change((cursor) => fenced(cursor, this.#token, release));
  }
}
