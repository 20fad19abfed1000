import type { Changes, Database } from './database.ts';
import type { Databases } from './databases.ts';
import { invalid } from './errors.ts';
import type { StoredDocument } from './collection.ts';
import { databaseOf } from './paths.ts';
import { compileQuery, inScope, type Query } from './query.ts';
import type * as Request from './requests.ts';
import { fromMicros } from './values.ts';

/** What a target looks at: some documents, or the results of a query. */
interface View {
  readonly concerns: (name: string) => boolean;
  readonly results: () => StoredDocument[];
}

interface Watched extends View {
  /** Versions last sent, by name. */
  readonly sent: Map<string, number>;
}

/** One Listen stream: sends the changes of its targets, each change of state once, in order. */
export class Listener {
  readonly #databases: Databases;
  readonly #send: (message: object) => void;
  readonly #onRead: (documents: number) => void;
  readonly #targets = new Map<number, Watched>();
  #database: Database | undefined;

  constructor(databases: Databases, send: (message: object) => void, onRead: (documents: number) => void) {
    this.#databases = databases;
    this.#send = send;
    this.#onRead = onRead;
  }

  /** Handles one request of the stream; throws INVALID_ARGUMENT. */
  receive(request: Request.Listen): void {
    if (request.removeTarget) {
      this.#targets.delete(request.removeTarget);
      this.#target('REMOVE', [request.removeTarget]);
      return;
    }
    if (!request.addTarget) throw invalid('A listen request has no target.');
    this.#join(request.database);
    const { targetId } = request.addTarget;
    const watched = { ...this.#view(request.addTarget), sent: new Map<string, number>() };
    this.#targets.set(targetId, watched);
    this.#target('ADD', [targetId]);
    this.#update(targetId, watched);
    this.#target('CURRENT', [targetId]);
    this.#target('NO_CHANGE', []);
    if (request.addTarget.once) this.receive({ database: request.database, removeTarget: targetId });
  }

  close(): void {
    this.#targets.clear();
    this.#database?.watchers.delete(this.#onChange);
  }

  readonly #onChange = (changes: Changes): void => {
    let sent = false;
    for (const [id, watched] of this.#targets) {
      if ([...changes.keys()].some((name) => watched.concerns(name))) sent = this.#update(id, watched) || sent;
    }
    if (sent) this.#target('NO_CHANGE', []);
  };

  #join(name: string): void {
    const { database } = this.#databases.get(name);
    if (this.#database && this.#database !== database) throw invalid('A stream listens to one database only.');
    this.#database = database;
    database.watchers.add(this.#onChange);
  }

  #view({ documents, query }: Request.Target): View {
    const database = this.#database!;
    if (documents) {
      const names = new Set(documents.documents);
      const found = () => [...names].map((name) => database.get(name)).filter((document) => document !== undefined);
      return { concerns: (name) => names.has(name), results: found };
    }
    if (!query?.structuredQuery || databaseOf(query.parent) !== database.name) throw invalid('A target has no query.');
    const compiled: Query = compileQuery(query.parent, query.structuredQuery);
    return { concerns: (name) => inScope(compiled, name), results: () => [...database.query(compiled).documents] };
  }

  #update(id: number, { results, sent }: Watched): boolean {
    const gone = new Set(sent.keys());
    let count = 0;
    for (const document of results()) {
      gone.delete(document.name);
      if (sent.get(document.name) === document.version) continue;
      sent.set(document.name, document.version);
      this.#send({ documentChange: { document, targetIds: [id] } });
      count++;
    }
    const readTime = this.#readTime();
    for (const name of gone) {
      sent.delete(name);
      const change = { document: name, removedTargetIds: [id], readTime };
      this.#send(this.#database!.get(name) ? { documentRemove: change } : { documentDelete: change });
    }
    if (count > 0) this.#onRead(count);
    return count + gone.size > 0;
  }

  #target(targetChangeType: string, targetIds: number[]): void {
    const readTime = this.#readTime();
    const resumeToken = Buffer.from(`${readTime.seconds}.${readTime.nanos}`);
    const state = targetChangeType === 'CURRENT' || targetChangeType === 'NO_CHANGE' ? { readTime, resumeToken } : {};
    this.#send({ targetChange: { targetChangeType, targetIds, ...state } });
  }

  #readTime = () => fromMicros(this.#databases.clock.read());
}
