import { accessSync, constants, mkdirSync } from 'node:fs';
import path from 'node:path';
import { UsageError } from './options.ts';

/**
 * Makes a folder that an option names, before anything else is done for it. Its parent must be there: Node's recursive
 * mkdir never ends where the system refuses (below /proc, for example).
 *
 * @throws UsageError
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
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new UsageError(
      `${option} ${folder}: cannot write there (${(error as NodeJS.ErrnoException).code}); name a folder in one that exists`,
    );
  }
}
