import { toError, TransientError } from './errors.ts';

/** Version of the stored formats that this code writes and reads. */
export const FORMAT = 1;

/**
 * Reads a stored document. One of a newer format is refused, never guessed at, and so is a damaged one; what waits for
 * it fails for the time being, so that nothing is lost until code that can read it is deployed or it is repaired.
 *
 * @param what names the document in messages
 * @param version its format version as it was stored
 * @throws TransientError unreadable_state
 */
export function readStored<T>(what: string, version: unknown, read: () => T): T {
  if (version !== FORMAT) {
    const text = `${what} has the format version ${JSON.stringify(version) ?? 'undefined'}, this code reads ${FORMAT}`;
    throw new TransientError('unreadable_state', `${text}: deploy the newer code again`);
  }
  try {
    return read();
  } catch (thrown) {
    throw new TransientError('unreadable_state', `${what} is damaged: ${toError(thrown).message}`, thrown);
  }
}

/** @throws Error unless a number of this name is there */
export function storedNumber(document: Readonly<Record<string, unknown>>, name: string): number {
  const value = document[name];
  if (!Number.isSafeInteger(value)) throw new Error(`${name} is no integer`);
  return value as number;
}

/** @throws Error unless a text of this name is there */
export function storedText(document: Readonly<Record<string, unknown>>, name: string): string {
  const value = document[name];
  if (typeof value !== 'string') throw new Error(`${name} is no text`);
  return value;
}
