import { InputError } from './options.ts';

/** DuckDB's words when another process has its file; the lock ends with that process, however it ends. */
const LOCKED = /Could not set lock on file/;
const HOLDER = /PID (\d+)/;

/** What to tell the person when an error means that another run has the state folder; null when it means something else. */
export function inUse(stateDir: string, error: unknown): InputError | null {
  const message = error instanceof Error ? error.message : '';
  if (!LOCKED.test(message)) return null;
  const pid = HOLDER.exec(message)?.[1];
  const who = pid === undefined ? 'another npm start' : `another npm start (process ${pid})`;
  return new InputError(`--state ${stateDir} is in use by ${who}: end that one first, or name another folder`, {
    cause: error,
  });
}
