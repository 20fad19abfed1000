import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NODE_SETTINGS } from '../../local/functions.ts';
import { CloudProcess } from './cloud-process.ts';
import { wrap, type EventSource } from './events.ts';
import { load } from './load.ts';
import { ROOT, Subject, type SubjectOptions } from './subject.ts';

export const ENTRY_POINTS = ['ingest', 'submit', 'finish', 'join', 'poll', 'sweep'] as const;
export type EntryPoint = (typeof ENTRY_POINTS)[number];

/** From the start of the process to its first answer, medians of some starts. */
export interface ColdStart {
  readonly ms: number;
  /** Milliseconds of CPU of the process, all threads. It moves less than `ms` when the machine is busy. */
  readonly cpuMs: number;
  /** The same until it listens, with no client at work yet. */
  readonly readyCpuMs: number;
}

export interface ColdStarts {
  readonly bare: ColdStart;
  readonly entryPoints: Readonly<Record<EntryPoint, ColdStart>>;
}

/** The functions as they are deployed: the bundle, and what its build compiled ahead. */
class Deployed {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'codaflow-bench-'));

  constructor() {
    for (const name of ['dist', 'node_modules', 'joins'])
      symlinkSync(path.join(ROOT, name), path.join(this.folder, name));
    writeFileSync(path.join(this.folder, 'package.json'), readFileSync(path.join(ROOT, 'package.json')));
    const env = { ...process.env, ...NODE_SETTINGS };
    const built = spawnSync(process.execPath, ['dist/compile-cache.js'], { cwd: this.folder, env, encoding: 'utf8' });
    if (built.status !== 0 || built.stderr.includes('without compiled code'))
      throw new Error(`compile-cache: ${built.stderr}`);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** No flags: under other ones than those of the build V8 does not take the code that it compiled. */
async function once(what: Omit<SubjectOptions, 'flags'>, body: string): Promise<ColdStart> {
  const begin = performance.now();
  const subject = await Subject.start({ ...what, flags: [] });
  try {
    const readyCpuMs = (await subject.usage()).cpuMicros / 1000;
    await load({ url: subject.url, inFlight: 1, count: 1, body: () => body });
    const ms = performance.now() - begin;
    return { ms, readyCpuMs, cpuMs: (await subject.usage()).cpuMicros / 1000 };
  } finally {
    await subject.stop('SIGKILL');
  }
}

/** A first request as each gets it; what `ingest` answers, BigQuery and Firestore have answered before. */
function firstRequest(name: EntryPoint, source: EventSource, n: number): string {
  const push = source.push(n, 'cold');
  const { message } = JSON.parse(push) as { message: { data: string } };
  const data = Buffer.from(message.data, 'base64');
  if (name === 'ingest') return push;
  if (name === 'submit') return data.toString();
  const { unique_key: key } = JSON.parse(data.toString()) as { unique_key: string };
  if (name === 'finish') return wrap(Buffer.from(JSON.stringify({ unique_key: key })), `cold-${n}`);
  return '{}';
}

function median(all: readonly ColdStart[]): ColdStart {
  const middle = (values: readonly number[]): number =>
    [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
  const of = (name: keyof ColdStart): number => middle(all.map((one) => one[name]));
  return { ms: of('ms'), cpuMs: of('cpuMs'), readyCpuMs: of('readyCpuMs') };
}

/** The bare framework beside each entry point, turn by turn, so that a busy moment meets all. */
export async function coldStarts(cloud: CloudProcess, source: EventSource, starts: number): Promise<ColdStarts> {
  const deployed = new Deployed();
  const cwd = deployed.folder;
  const env = { ...cloud.env, ...NODE_SETTINGS };
  try {
    const ceiling = path.join(ROOT, 'test/bench/subjects/ceiling.mjs');
    const bare: ColdStart[] = [];
    const own = new Map(ENTRY_POINTS.map((name) => [name, [] as ColdStart[]]));
    for (let n = 0; n < starts; n++) {
      bare.push(await once({ target: 'ceiling', source: ceiling, cwd, env: cloud.env }, '{}'));
      for (const [name, all] of own) {
        all.push(await once({ target: name, source: cwd, cwd, env }, firstRequest(name, source, n)));
      }
    }
    const entryPoints = Object.fromEntries([...own].map(([name, all]) => [name, median(all)]));
    return { bare: median(bare), entryPoints: entryPoints as Record<EntryPoint, ColdStart> };
  } finally {
    deployed.remove();
  }
}
