import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { EventRow, SummaryRow } from '../../functions/core/event.ts';
import type { Document, Message, QueryJob } from '../../functions/ports.ts';
import type { Committed } from '../fakes/tables.ts';
import type { FakeWarehouse, LedgerRow } from '../fakes/warehouse.ts';
import { CURSORS } from './cursors.ts';
import type { Scenario } from './scenario.ts';
import { SEQUENCES } from './sequences.ts';
import { WATCHES } from './watches.ts';
import { World } from './world.ts';

/** Version of the stored formats that today's code writes: the folder of their fixtures. */
export const CURRENT = 'v1';

export const SCENARIOS: Readonly<Record<string, Scenario>> = Object.fromEntries(
  Object.entries({ sequence: SEQUENCES, cursor: CURSORS, watch: WATCHES }).flatMap(([kind, scenarios]) =>
    Object.entries(scenarios).map(([name, scenario]) => [`${kind} ${name}`.replaceAll(/[ ,]+/g, '-'), scenario]),
  ),
);

type Job = FakeWarehouse['jobs'] extends Map<string, infer J> ? J : never;

/** The documents of a state as they were stored, and the world around them. Bytes are `{"base64": ...}`. */
export interface Fixture {
  readonly now: number;
  readonly documents: Readonly<Record<string, Document>>;
  readonly events: readonly Committed<EventRow>[];
  readonly summaries: readonly Committed<SummaryRow>[];
  readonly ledger: readonly LedgerRow[];
  readonly jobs: readonly (Job & { readonly job: QueryJob })[];
  readonly messages: Readonly<Record<string, readonly Message[]>>;
}

const FOLDER = new URL('./', import.meta.url);
const HASHES = new URL('hashes.txt', FOLDER);

/** Names of the fixtures, `v1/sequence-open`. */
export function fixtureNames(): string[] {
  const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((one) => one.isDirectory());
  return folders
    .flatMap(({ name }) => readdirSync(new URL(name, FOLDER)).map((file) => `${name}/${file.replace(/\.json$/, '')}`))
    .sort();
}

const file = (name: string): URL => new URL(`${name}.json`, FOLDER);

export function readFixture(name: string): Fixture {
  return JSON.parse(readFileSync(file(name), 'utf8'), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && 'base64' in value
      ? new Uint8Array(Buffer.from(String(value.base64), 'base64'))
      : value,
  ) as Fixture;
}

export function hashOf(name: string): string {
  return hash('sha256', readFileSync(file(name), 'utf8'));
}

/** The hashes of all fixtures as they were first written, by name. */
export function knownHashes(): ReadonlyMap<string, string> {
  const lines = existsSync(HASHES) ? readFileSync(HASHES, 'utf8').trim().split('\n') : [];
  return new Map(lines.map((line) => line.split(' ').reverse() as [string, string]));
}

function bytesAsText(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value;
}

/** Writes the fixture of a scenario, as today's code stores it. @returns false when it is there already */
export async function writeFixture(folder: string, scenario: string): Promise<boolean> {
  const name = `${folder}/${scenario}`;
  if (existsSync(file(name))) return false;
  const { settings, prepare } = SCENARIOS[scenario]!;
  const world = new World('before', settings);
  await prepare(world);
  const fixture: Fixture = {
    now: world.clock.now(),
    documents: Object.fromEntries(world.store.dump()),
    events: world.events.commits,
    summaries: world.summaries.commits,
    ledger: world.warehouse.ledger,
    jobs: [...world.warehouse.jobs.values()],
    messages: Object.fromEntries(world.bus.topics),
  };
  mkdirSync(new URL(`${folder}/`, FOLDER), { recursive: true });
  writeFileSync(file(name), `${JSON.stringify(fixture, bytesAsText, 2)}\n`);
  writeFileSync(HASHES, `${hashOf(name)} ${name}\n`, { flag: 'a' });
  return true;
}

/** A new instance of today's code in the world of a fixture. */
export async function worldOf({ now, documents, events, summaries, ledger, jobs, messages }: Fixture): Promise<World> {
  const world = new World('after');
  world.clock.set(now);
  await world.store.port().transaction(async (tx) => {
    for (const [path, document] of Object.entries(documents)) tx.set(path, document);
  });
  world.events.commits.push(...events);
  world.summaries.commits.push(...summaries);
  world.warehouse.ledger.push(...ledger);
  for (const one of jobs) world.warehouse.jobs.set(one.job.jobId, one);
  for (const [topic, list] of Object.entries(messages)) world.bus.topics.set(topic, [...list]);
  return world;
}
