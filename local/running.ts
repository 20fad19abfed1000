import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Addresses } from './clients.ts';
import { isListening } from './ports.ts';

/** Each `npm start` keeps a file here while it runs, so that other commands find it. */
const FOLDER = path.resolve(import.meta.dirname, '../.state/clouds');

const fileOf = (pid: number): string => path.join(FOLDER, `${pid}.json`);

interface Announced {
  readonly addresses: Addresses;
  /** Epoch milliseconds. */
  readonly since: number;
}

export async function announce(addresses: Addresses): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const announced: Announced = { addresses, since: Date.now() };
  await writeFile(fileOf(process.pid), `${JSON.stringify(announced, null, 2)}\n`);
}

export async function withdraw(): Promise<void> {
  await rm(fileOf(process.pid), { force: true });
}

/**
 * The addresses of the local cloud that started last of those that run.
 *
 * @throws Error when no local cloud runs
 */
export async function runningCloud(): Promise<Addresses> {
  const found: Announced[] = [];
  for (const name of await readdir(FOLDER).catch(() => [])) {
    const file = path.join(FOLDER, name);
    const announced = await read(file);
    // One that was killed has left its file.
    if (announced === null || !(await answers(announced.addresses))) await rm(file, { force: true });
    else found.push(announced);
  }
  const last = found.toSorted((a, b) => a.since - b.since).at(-1);
  if (last === undefined) throw new Error('no local cloud is running; start one with npm start');
  return last.addresses;
}

async function read(file: string): Promise<Announced | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Announced;
  } catch {
    return null;
  }
}

async function answers({ BIGQUERY_EMULATOR_HOST: host, PUBSUB_EMULATOR_HOST: other }: Addresses): Promise<boolean> {
  const ports = [new URL(host).port, other.split(':')[1]].map(Number);
  return (await Promise.all(ports.map(isListening))).every(Boolean);
}
