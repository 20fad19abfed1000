import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const HERE = import.meta.dirname;
const PACKAGE = path.join(HERE, 'node_modules/@firebaseextensions/firestore-bigquery-change-tracker/package.json');

/** Installs the peer beside the benchmark. Gives the reason when it cannot be had. */
export async function installPeer(): Promise<string | null> {
  if (existsSync(PACKAGE)) return null;
  try {
    await promisify(execFile)('npm', ['ci', '--ignore-scripts'], { cwd: HERE, timeout: 300_000 });
    return existsSync(PACKAGE) ? null : 'npm ci ended, and it is not there';
  } catch (error) {
    return `npm ci in test/bench failed: ${(error instanceof Error ? error.message : String(error)).split('\n')[0]}`;
  }
}
