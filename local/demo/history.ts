import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Published } from './oracle.ts';
import type { Received } from './receive.ts';

/** What earlier runs on the same state folder put in and got out: the check covers all of it. */
export interface History {
  /** Days that the first run moved its times by; later runs do the same. */
  readonly days: number | null;
  readonly published: readonly Published[];
  readonly received: readonly Received[];
}

const NOTHING: History = { days: null, published: [], received: [] };
const FILE = 'history.json.gz';

export async function loadHistory(stateDir: string | null): Promise<History> {
  if (stateDir === null || !existsSync(path.join(stateDir, FILE))) return NOTHING;
  return JSON.parse(gunzipSync(await readFile(path.join(stateDir, FILE))).toString('utf8')) as History;
}

export async function saveHistory(stateDir: string | null, history: History): Promise<void> {
  if (stateDir === null) return;
  await mkdir(stateDir, { recursive: true });
  await writeFile(path.join(stateDir, FILE), gzipSync(JSON.stringify(history), { level: 1 }));
}
