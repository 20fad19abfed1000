import { CommitClock, type Now } from './clock.ts';
import { Database } from './database.ts';
import { Journal, type Codec } from './journal.ts';
import { checkDatabase, databaseOf } from './paths.ts';
import { Transactions } from './transactions.ts';
import { storable } from './validate.ts';

/** A database with its transactions. */
export interface Space {
  readonly database: Database;
  readonly transactions: Transactions;
}

/** All databases of a server, made when first named, and the journal behind them. */
export class Databases {
  readonly clock: CommitClock;
  readonly #spaces = new Map<string, Space>();
  readonly #journal: Journal | undefined;

  constructor(now: Now, stateDir: string | undefined, codec: Codec) {
    this.clock = new CommitClock(now);
    if (stateDir === undefined) return;
    this.#journal = new Journal(stateDir, codec);
    const last = this.#journal.replay((name, document) => {
      // Decoded bytes are slices of the whole file; storable() copies them.
      const copy = document && { ...document, fields: storable(document.fields) };
      this.get(databaseOf(name)).database.load(name, copy);
    });
    this.clock.saw(last);
    this.#journal.compact(this.#documents(), last);
  }

  get(name: string): Space {
    let space = this.#spaces.get(name);
    if (!space) {
      const database = new Database(checkDatabase(name), this.clock, (changes, time) =>
        this.#journal?.append(changes, time),
      );
      this.#spaces.set(name, (space = { database, transactions: new Transactions(database, this.clock) }));
    }
    return space;
  }

  all(): Iterable<Space> {
    return this.#spaces.values();
  }

  close(): void {
    this.#journal?.close();
  }

  *#documents() {
    for (const { database } of this.#spaces.values()) yield* database.all();
  }
}
