import { appendFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Ledger } from './run.ts';

/** A file with one id a line. A line that a crash cut off is no id: its message is published again, without effect. */
export async function openLedger(file: string): Promise<Ledger> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const ids = new Set(text.split('\n'));
  let separator = text === '' || text.endsWith('\n') ? '' : '\n';
  return {
    has: (id) => ids.has(id),
    async add(added) {
      await mkdir(path.dirname(file), { recursive: true });
      await appendFile(file, `${separator}${added.join('\n')}\n`, { flush: true });
      separator = '';
      for (const id of added) ids.add(id);
    },
  };
}

/** For `--again`: remembers only what this run does. */
export function forgetful(ledger: Ledger): Ledger {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    async add(added) {
      await ledger.add(added);
      for (const id of added) ids.add(id);
    },
  };
}
