import type {
  Aggregation,
  Consistency,
  Document,
  Fields,
  Mask,
  Precondition,
  StructuredQuery,
  TransactionOptions,
  Write,
} from './wire.ts';

/** Requests of google.firestore.v1.Firestore, only the members that the server reads. */

export interface GetDocument extends Consistency {
  readonly name: string;
  readonly mask: Mask | null;
}

export interface BatchGetDocuments extends Consistency {
  readonly database: string;
  readonly documents: readonly string[];
  readonly mask: Mask | null;
}

export interface CreateDocument {
  readonly parent: string;
  readonly collectionId: string;
  readonly documentId: string;
  readonly document: { readonly fields: Fields } | null;
  readonly mask: Mask | null;
}

export interface UpdateDocument {
  readonly document: { readonly name: string; readonly fields: Fields } | null;
  readonly updateMask: Mask | null;
  readonly mask: Mask | null;
  readonly currentDocument: Precondition | null;
}

export interface DeleteDocument {
  readonly name: string;
  readonly currentDocument: Precondition | null;
}

export interface ListDocuments extends Consistency {
  readonly parent: string;
  readonly collectionId: string;
  readonly pageSize: number;
  readonly pageToken: string;
  readonly orderBy: string;
  readonly mask: Mask | null;
  readonly showMissing: boolean;
}

export interface ListCollectionIds extends Consistency {
  readonly parent: string;
  readonly pageSize: number;
  readonly pageToken: string;
}

export interface BeginTransaction {
  readonly database: string;
  readonly options: TransactionOptions | null;
}

export interface Commit {
  readonly database: string;
  readonly writes: readonly Write[];
  readonly transaction: Buffer;
}

export interface Rollback {
  readonly database: string;
  readonly transaction: Buffer;
}

export interface RunQuery extends Consistency {
  readonly parent: string;
  readonly structuredQuery?: StructuredQuery;
  readonly explainOptions: unknown;
}

export interface RunAggregationQuery extends Consistency {
  readonly parent: string;
  readonly structuredAggregationQuery?: {
    readonly structuredQuery?: StructuredQuery;
    readonly aggregations: readonly Aggregation[];
  };
  readonly explainOptions: unknown;
}

export interface Target {
  readonly targetId: number;
  readonly once: boolean;
  readonly documents?: { readonly documents: readonly string[] };
  readonly query?: { readonly parent: string; readonly structuredQuery?: StructuredQuery };
}

export interface Listen {
  readonly database: string;
  readonly addTarget?: Target;
  readonly removeTarget?: number;
}

/** A document, or in a listing of missing ones only a name. */
export type Listed = Document | { readonly name: string };
