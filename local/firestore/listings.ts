import type { Meter } from '../shared/meter.ts';
import type { Databases } from './databases.ts';
import { unimplemented } from './errors.ts';
import { databaseOf } from './paths.ts';
import { masked } from './reads.ts';
import type * as Request from './requests.ts';
import { compareText } from './values.ts';

const DEFAULT_PAGE = 300;

/** ListDocuments and ListCollectionIds: for administration, not fast. */
export class Listings {
  readonly #databases: Databases;
  readonly #meter: Meter;
  constructor(databases: Databases, meter: Meter) {
    this.#databases = databases;
    this.#meter = meter;
  }

  listDocuments(request: Request.ListDocuments): { documents: Request.Listed[]; nextPageToken: string } {
    if (request.consistencySelector) throw unimplemented('Listing documents in a transaction or at a time');
    if (request.orderBy !== '' && request.orderBy !== '__name__') throw unimplemented('Listing documents in an order');
    if (request.collectionId === '') throw unimplemented('Listing documents of all collections');
    const { database } = this.#databases.get(databaseOf(request.parent));
    const path = `${request.parent}/${request.collectionId}`;
    const source = database.source({ ...request, allDescendants: false });
    const ids = new Set<string>();
    if (!(Symbol.iterator in source)) for (const name of source.documents.keys()) ids.add(idBelow(path, name));
    if (request.showMissing) {
      for (const other of database.collectionPaths()) if (other.startsWith(`${path}/`)) ids.add(idBelow(path, other));
    }
    const { items, nextPageToken } = page([...ids], request);
    this.#meter.add('firestore.reads', Math.max(1, items.length));
    const documents = items.map((id) => {
      const document = database.get(`${path}/${id}`);
      return document ? masked(document, request.mask) : { name: `${path}/${id}` };
    });
    return { documents, nextPageToken };
  }

  listCollectionIds(request: Request.ListCollectionIds): { collectionIds: string[]; nextPageToken: string } {
    if (request.consistencySelector) throw unimplemented('Listing collections at a time');
    const { database } = this.#databases.get(databaseOf(request.parent));
    const ids = new Set<string>();
    for (const path of database.collectionPaths()) {
      if (path.startsWith(`${request.parent}/`)) ids.add(idBelow(request.parent, path));
    }
    const { items, nextPageToken } = page([...ids], request);
    this.#meter.add('firestore.reads');
    return { collectionIds: items, nextPageToken };
  }
}

/** The segment that follows `path` in a longer path. */
const idBelow = (path: string, longer: string): string => longer.slice(path.length + 1).split('/', 1)[0]!;

/** One page in order; a token is the last id of the page before. */
function page(ids: string[], { pageSize, pageToken }: { pageSize: number; pageToken: string }) {
  const rest = ids.sort(compareText).filter((id) => pageToken === '' || compareText(id, pageToken) > 0);
  const items = rest.slice(0, pageSize > 0 ? pageSize : DEFAULT_PAGE);
  return { items, nextPageToken: items.length < rest.length ? items.at(-1)! : '' };
}
