import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Fields } from './fields.ts';
import { InputError } from './options.ts';
import type { ReferenceRow } from './reference.ts';

/**
 * Makes a folder that an option names, before anything else is done for it. Its parent must be there: Node's recursive
 * mkdir never ends where the system refuses (below /proc, for example).
 *
 * @throws InputError
 */
export function makeFolder(option: string, folder: string): void {
  const parent = path.dirname(path.resolve(folder));
  try {
    accessSync(parent, constants.F_OK);
    try {
      mkdirSync(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    // Fails where it is a file.
    readdirSync(folder);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new InputError(
      `${option} ${folder}: cannot write there (${(error as NodeJS.ErrnoException).code}); name a folder in one that exists`,
    );
  }
}

/** What the runs on a state folder have in common: what is in it was made with that. */
export interface Remembered {
  readonly version: 1;
  readonly completion: readonly string[];
  readonly reference: readonly ReferenceRow[];
  /** What the members were called, in the order of time; they may change, as they may in the cloud. */
  readonly fields?: readonly Fields[];
  /** Whole days that the times of each replayed file were moved by; by the hash of the file's lines. */
  readonly files: Readonly<Record<string, number>>;
}

const FILE = 'codaflow.json';
/** What a run that ended at its very start leaves. */
const OWN = new Set(['bigquery', 'firestore', 'pubsub', 'tasks', 'demo', 'logs']);

/**
 * Null for a new folder.
 *
 * @throws InputError when the folder holds something else
 */
export function remembered(stateDir: string | null): Remembered | null {
  if (stateDir === null) return null;
  const file = path.join(stateDir, FILE);
  if (!existsSync(file)) {
    if (readdirSync(stateDir).every((name) => OWN.has(name))) return null;
    throw new InputError(
      `--state ${stateDir}: the folder is not empty and is no state of this version; name a new or an empty folder`,
    );
  }
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as Remembered;
    if (found.version === 1) return found;
  } catch {
    // Says the same.
  }
  throw new InputError(`--state ${stateDir}: ${FILE} in it is not readable by this version; name a new folder`);
}

export function remember(stateDir: string | null, what: Remembered): void {
  if (stateDir !== null) writeFileSync(path.join(stateDir, FILE), `${JSON.stringify(what)}\n`);
}
