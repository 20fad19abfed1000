import { readFileSync, writeFileSync } from 'node:fs';
import type { Schedule } from './shrink.ts';

/** A schedule that once failed, cut down to what mattered. */
export interface Kept extends Schedule {
  /** What it showed. */
  readonly name: string;
}

const FILE = new URL('corpus.json', import.meta.url);

export function corpus(): readonly Kept[] {
  return JSON.parse(readFileSync(FILE, 'utf8')) as readonly Kept[];
}

/** Keeps a schedule for ever; one of the same name is replaced. */
export function keep(kept: Kept): void {
  const all = [...corpus().filter(({ name }) => name !== kept.name), kept];
  const lines = all.sort((a, b) => (a.name < b.name ? -1 : 1)).map((one) => `  ${JSON.stringify(one)}`);
  writeFileSync(FILE, `[\n${lines.join(',\n')}\n]\n`);
}
