import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Addresses } from './clients.ts';

/** Written by `npm start` while it runs, so that other commands find it. */
const ADDRESS_FILE = path.resolve(import.meta.dirname, '../.state/local-cloud.json');

const text = (addresses: Addresses): string => `${JSON.stringify(addresses, null, 2)}\n`;

export async function announce(addresses: Addresses): Promise<void> {
  await mkdir(path.dirname(ADDRESS_FILE), { recursive: true });
  await writeFile(ADDRESS_FILE, text(addresses));
}

/** Leaves the file of another cloud that was started later. */
export async function withdraw(addresses: Addresses): Promise<void> {
  const current = await readFile(ADDRESS_FILE, 'utf8').catch(() => null);
  if (current === text(addresses)) await rm(ADDRESS_FILE, { force: true });
}

/** @throws Error when no local cloud runs */
export async function runningCloud(): Promise<Addresses> {
  try {
    return JSON.parse(await readFile(ADDRESS_FILE, 'utf8')) as Addresses;
  } catch (error) {
    throw new Error('no local cloud is running; start one with npm start', { cause: error });
  }
}
