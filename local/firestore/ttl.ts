import type { Database } from './database.ts';
import { valueAt } from './fields.ts';
import { parseFieldPath, type FieldPath } from './paths.ts';
import { toMicros } from './values.ts';
import type { Write } from './wire.ts';

const BATCH = 500;

/** Time-to-live policies: collection group to the field with the time after which a document may go. */
export class TtlPolicies {
  readonly #fields = new Map<string, FieldPath>();

  constructor(policies: Readonly<Record<string, string>> = {}) {
    for (const [group, field] of Object.entries(policies)) this.#fields.set(group, parseFieldPath(field));
  }

  /**
   * Deletes the documents of a database whose time has come; subcollections stay. Returns how many.
   * @param now epoch microseconds
   */
  sweep(database: Database, now: number): number {
    let deleted = 0;
    for (const [group, field] of this.#fields) {
      const expired: Write[] = [];
      for (const document of database.group(group).documents.values()) {
        const value = valueAt(document, field);
        if (value?.valueType !== 'timestampValue' || toMicros(value.timestampValue) > now) continue;
        expired.push({ operation: 'delete', delete: document.name });
      }
      for (let i = 0; i < expired.length; i += BATCH) database.commit(expired.slice(i, i + BATCH));
      deleted += expired.length;
    }
    return deleted;
  }
}
