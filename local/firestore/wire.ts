/** Messages of google.firestore.v1 as they look in JavaScript: longs and enums are text, absent messages null. */

/** Seconds since the epoch as decimal text, and nanoseconds within the second. */
export interface Timestamp {
  readonly seconds: string;
  readonly nanos: number;
}

export type Value =
  | { readonly valueType: 'nullValue'; readonly nullValue: 'NULL_VALUE' }
  | { readonly valueType: 'booleanValue'; readonly booleanValue: boolean }
  | { readonly valueType: 'integerValue'; readonly integerValue: string }
  | { readonly valueType: 'doubleValue'; readonly doubleValue: number }
  | { readonly valueType: 'timestampValue'; readonly timestampValue: Timestamp }
  | { readonly valueType: 'stringValue'; readonly stringValue: string }
  | { readonly valueType: 'bytesValue'; readonly bytesValue: Buffer }
  | { readonly valueType: 'referenceValue'; readonly referenceValue: string }
  | { readonly valueType: 'geoPointValue'; readonly geoPointValue: { latitude: number; longitude: number } }
  | { readonly valueType: 'arrayValue'; readonly arrayValue: { readonly values: readonly Value[] } }
  | { readonly valueType: 'mapValue'; readonly mapValue: { readonly fields: Fields } };

export type Fields = Readonly<Record<string, Value>>;

export interface Document {
  readonly name: string;
  readonly fields: Fields;
  readonly createTime: Timestamp;
  readonly updateTime: Timestamp;
}

export interface Mask {
  readonly fieldPaths: readonly string[];
}

export interface Precondition {
  readonly conditionType?: 'exists' | 'updateTime';
  readonly exists?: boolean;
  readonly updateTime?: Timestamp;
}

export type FieldTransform = { readonly fieldPath: string } & (
  | { readonly transformType: 'setToServerValue'; readonly setToServerValue: string }
  | { readonly transformType: 'increment'; readonly increment: Value }
  | { readonly transformType: 'maximum'; readonly maximum: Value }
  | { readonly transformType: 'minimum'; readonly minimum: Value }
  | { readonly transformType: 'appendMissingElements'; readonly appendMissingElements: { values: readonly Value[] } }
  | { readonly transformType: 'removeAllFromArray'; readonly removeAllFromArray: { values: readonly Value[] } }
);

export interface Write {
  readonly operation?: 'update' | 'delete' | 'transform';
  readonly update?: { readonly name: string; readonly fields: Fields };
  readonly delete?: string;
  readonly transform?: { readonly document: string; readonly fieldTransforms: readonly FieldTransform[] };
  readonly updateMask?: Mask | null;
  readonly updateTransforms?: readonly FieldTransform[];
  readonly currentDocument?: Precondition | null;
}

export interface WriteResult {
  readonly updateTime?: Timestamp;
  readonly transformResults?: readonly Value[];
}

export interface FieldReference {
  readonly fieldPath: string;
}

export interface Filter {
  readonly filterType?: 'compositeFilter' | 'fieldFilter' | 'unaryFilter';
  readonly compositeFilter?: { readonly op: string; readonly filters: readonly Filter[] };
  readonly fieldFilter?: { readonly field: FieldReference; readonly op: string; readonly value: Value };
  readonly unaryFilter?: { readonly field: FieldReference; readonly op: string };
}

export interface Cursor {
  readonly values: readonly Value[];
  readonly before: boolean;
}

export interface StructuredQuery {
  readonly select: { readonly fields: readonly FieldReference[] } | null;
  readonly from: readonly { readonly collectionId: string; readonly allDescendants: boolean }[];
  readonly where: Filter | null;
  readonly orderBy: readonly { readonly field: FieldReference; readonly direction: string }[];
  readonly startAt: Cursor | null;
  readonly endAt: Cursor | null;
  readonly offset: number;
  readonly limit: { readonly value: number } | null;
  readonly findNearest: unknown;
}

export interface Aggregation {
  readonly operator?: 'count' | 'sum' | 'avg';
  readonly alias: string;
  readonly count?: { readonly upTo: { readonly value: string } | null };
  readonly sum?: { readonly field: FieldReference };
  readonly avg?: { readonly field: FieldReference };
}

export interface TransactionOptions {
  readonly mode?: 'readOnly' | 'readWrite';
  readonly readOnly?: { readonly readTime?: Timestamp };
}

/** How a read may name the state it wants to see. */
export interface Consistency {
  readonly consistencySelector?: 'transaction' | 'newTransaction' | 'readTime';
  readonly transaction?: Buffer;
  readonly newTransaction?: TransactionOptions;
}
