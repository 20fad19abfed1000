import type { Meter } from '../shared/meter.ts';
import { aggregate } from './aggregate.ts';
import type { Databases, Space } from './databases.ts';
import { notFound, unimplemented, invalid } from './errors.ts';
import { project } from './fields.ts';
import { checkDocumentName, databaseOf, parseFieldPath } from './paths.ts';
import { compileQuery } from './query.ts';
import type * as Request from './requests.ts';
import type { Transaction } from './transactions.ts';
import { fromMicros } from './values.ts';
import type { Consistency, Document, Mask } from './wire.ts';

const ENTRIES_PER_READ = 1000;

/** The calls that read. Each returns the messages of its answer. */
export class Reads {
  readonly #databases: Databases;
  readonly #meter: Meter;
  constructor(databases: Databases, meter: Meter) {
    this.#databases = databases;
    this.#meter = meter;
  }

  getDocument(request: Request.GetDocument): Document {
    const database = databaseOf(request.name);
    checkDocumentName(request.name, database);
    const space = this.#databases.get(database);
    const { transaction } = transactionOf(space, request);
    this.#meter.add('firestore.reads');
    const document = space.transactions.read(transaction, request.name);
    if (!document) throw notFound(`Document "${request.name}" not found.`);
    return masked(document, request.mask);
  }

  batchGetDocuments(request: Request.BatchGetDocuments): object[] {
    const space = this.#databases.get(request.database);
    for (const name of request.documents) checkDocumentName(name, request.database);
    const { transaction, begun } = transactionOf(space, request);
    const readTime = fromMicros(this.#databases.clock.read());
    this.#meter.add('firestore.reads', new Set(request.documents).size);
    const answers = [...new Set(request.documents)].map((name) => {
      const document = space.transactions.read(transaction, name);
      return document ? { found: masked(document, request.mask), readTime } : { missing: name, readTime };
    });
    return begun ? [{ transaction: begun, readTime }, ...answers] : answers;
  }

  runQuery(request: Request.RunQuery): object[] {
    if (request.explainOptions) throw unimplemented('Query explain');
    if (!request.structuredQuery) throw invalid('The request has no query.');
    const query = compileQuery(request.parent, request.structuredQuery);
    const space = this.#databases.get(databaseOf(request.parent));
    const { transaction, begun } = transactionOf(space, request);
    const { documents, skipped } = space.transactions.query(transaction, query);
    this.#meter.add('firestore.reads', Math.max(1, documents.length + skipped));
    const readTime = fromMicros(this.#databases.clock.read());
    const { select } = query;
    const answers: object[] = begun ? [{ transaction: begun, readTime }] : [];
    for (const document of documents)
      answers.push({ document: select ? project(document, select) : document, readTime });
    answers.push({ readTime, skippedResults: skipped });
    return answers;
  }

  runAggregationQuery(request: Request.RunAggregationQuery): object[] {
    if (request.explainOptions) throw unimplemented('Query explain');
    const aggregation = request.structuredAggregationQuery;
    if (!aggregation?.structuredQuery) throw invalid('The request has no query.');
    const query = compileQuery(request.parent, aggregation.structuredQuery);
    const space = this.#databases.get(databaseOf(request.parent));
    const { transaction, begun } = transactionOf(space, request);
    const { documents, skipped } = space.transactions.query(transaction, query);
    this.#meter.add('firestore.reads', Math.max(1, Math.ceil((documents.length + skipped) / ENTRIES_PER_READ)));
    return [
      {
        result: { aggregateFields: aggregate(documents, aggregation.aggregations) },
        readTime: fromMicros(this.#databases.clock.read()),
        ...(begun ? { transaction: begun } : {}),
      },
    ];
  }
}

/** The transaction that a read belongs to; `begun` is its id when the read begins it. */
export function transactionOf(space: Space, read: Consistency): { transaction?: Transaction; begun?: Buffer } {
  if (read.consistencySelector === 'readTime') throw unimplemented('Reading at a time (read_time)');
  if (read.newTransaction) {
    const transaction = beginTransaction(space, read.newTransaction);
    return { transaction, begun: transaction.id };
  }
  if (!read.transaction?.length) return {};
  return { transaction: space.transactions.get(read.transaction) };
}

export function beginTransaction(space: Space, options: Consistency['newTransaction'] | null): Transaction {
  if (options?.readOnly?.readTime) throw unimplemented('Reading at a time (read_time)');
  return space.transactions.begin(options?.readOnly !== undefined);
}

export function masked(document: Document, mask: Mask | null): Document {
  return mask ? project(document, mask.fieldPaths.map(parseFieldPath)) : document;
}
