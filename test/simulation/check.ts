import assert from 'node:assert/strict';
import type { SummaryRow } from '../../functions/core/event.ts';
import type { Message } from '../../functions/ports.ts';
import { checkItems } from './items-check.ts';
import { messageOf, timeOf, watchText } from './messages.ts';
import { foldOf } from './oracle.ts';
import type { PlannedEvent, SubmittedItem } from './plan.ts';
import { SKEW } from './watch.ts';
import type { World } from './world.ts';

/** Whether nothing more will happen by itself. */
export function isDone(world: World): boolean {
  for (const [path, document] of world.store.dump()) {
    if (/^(sequences|watches)\//.test(path) && document['wake_at'] !== undefined) return false;
  }
  if (!world.plan.join) return true;
  const cursor = world.store.read('cursors/enrich');
  const last = world.events.commits.at(-1)?.time ?? 0;
  return cursor !== null && cursor['run'] === null && Number(cursor['position']) > last + world.config.joinWait;
}

/** Holds a world at rest to the fold over everything that was published. */
export function checkRest(world: World): void {
  const sent = itemsOf(world).flatMap((item) => ('event' in item ? [item.event] : []));
  checkDeadLetters(world);
  const texts = new Map(checkItems(world).map(({ event, text }) => [event, text]));
  const accepted = [...sent.filter(({ refused }) => refused === undefined), ...texts.keys()];
  // Whether an event counts that was given up is open: each part of its way may have been gone.
  const [open, sure] = partition(accepted, (event) => isGivenUp(world, texts.get(event) ?? messageOf({ event }).data));
  checkTable(world, sure, open);
  const byKey = Map.groupBy(checkConflicts(world, sure), ({ key }) => key);
  const openByKey = Map.groupBy(distinct(open), ({ key }) => key);
  for (const key of new Set([...byKey.keys(), ...openByKey.keys()])) {
    explain(openByKey.get(key) ?? [], (some) => checkKey(world, key, [...(byKey.get(key) ?? []), ...some]));
  }
  const summarised = new Set(world.summaries.commits.map(({ row }) => row.unique_key));
  assert.deepEqual(new Set([...summarised].filter((key) => !openByKey.has(key))), new Set([...byKey.keys()].filter((key) => !openByKey.has(key)))); // prettier-ignore
  if (world.plan.join) checkJoin(world);
}

/** Everything that was published or submitted as an event. */
function itemsOf(world: World): readonly SubmittedItem[] {
  return world.plan.messages.flatMap((one) =>
    'event' in one || 'raw' in one ? [one] : 'submit' in one ? one.submit : [],
  );
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

const distinct = (events: readonly PlannedEvent[]) => [...new Map(events.map((e) => [`${e.key} ${e.id}`, e])).values()];

/** Whether the last delivery attempt of the event failed: by our own word, or by Pub/Sub's. */
function isGivenUp(world: World, data: string): boolean {
  return lettersOf(world, data).some(({ attributes }) => isLast(attributes));
}

function isLast(attributes: Message['attributes']): boolean {
  return attributes['reason'] === 'delivery_attempts_exhausted' || SOURCE_COUNT in attributes;
}

const SOURCE_COUNT = 'CloudPubSubDeadLetterSourceDeliveryCount';

/** One subset of what is open must explain everything. @throws the failure of the largest one when none does */
function explain(open: readonly PlannedEvent[], check: (some: readonly PlannedEvent[]) => void): void {
  let failure: unknown;
  for (let left = 2 ** open.length - 1; left >= 0; left--) {
    try {
      return check(open.filter((_, i) => (left >> i) % 2 === 1));
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

function lettersOf(world: World, data: string): readonly Message[] {
  return world.bus.published('deadLetters').filter((letter) => Buffer.from(letter.data).toString() === data);
}

/** Every permanent failure is there with its bytes and its reason, and nothing else. */
function checkDeadLetters(world: World): void {
  const expected = new Set<string>();
  for (const item of itemsOf(world)) {
    const { data } = messageOf(item);
    const reason = 'raw' in item ? item.reason : item.event.refused === true ? 'row_refused' : null;
    if (reason === null) continue;
    expected.add(data);
    const letters = lettersOf(world, data).map(({ attributes }) => attributes);
    const found = letters.some((one) => one['reason'] === reason || isLast(one));
    assert.ok(found || isAnswered(world, item), `no dead letter ${reason} for ${data}`);
  }
  const watched = Map.groupBy(world.plan.messages.flatMap((one) => ('watch' in one ? [one.watch] : [])), ({ id }) => id); // prettier-ignore
  for (const ofId of watched.values()) {
    const contents = new Set(ofId.map(watchText));
    if (contents.size > 1) for (const text of contents) expected.add(text);
  }
  const late = world.plan.settings['MAX_DELIVERY_ATTEMPTS'] !== undefined;
  for (const { data, attributes } of world.bus.published('deadLetters')) {
    const text = Buffer.from(data).toString();
    const known = expected.has(text) || attributes['reason'] === 'event_id_conflict' || (late && isLast(attributes));
    assert.ok(known, `dead letter ${attributes['reason']} of a good message ${text}`);
  }
}

/** A caller that hears itself what is wrong with its whole body needs no dead letter. */
function isAnswered({ plan }: World, item: SubmittedItem): boolean {
  return plan.messages.some((one) => 'submit' in one && one.by === 'call' && one.submit.length === 1 && one.submit[0] === item && 'raw' in item && item.reason === 'invalid_json'); // prettier-ignore
}

const identity = (key: string, id: string, status: string, time: number) => JSON.stringify([key, id, status, time]);

/** The table holds every accepted event, and nothing that was not published. */
function checkTable(world: World, sure: readonly PlannedEvent[], open: readonly PlannedEvent[]): void {
  const named = (event: PlannedEvent) => identity(event.key, event.id, event.status, timeOf(event));
  const stored = world.events.commits.map(({ row: r }) => identity(r.unique_key, r.event_id, r.event_status, r.event_time)); // prettier-ignore
  const expected = new Set(sure.map(named));
  const allowed = new Set(open.map(named).filter((name) => !expected.has(name)));
  assert.deepEqual(
    new Set(stored.filter((name) => !allowed.has(name))),
    expected,
    'the table of events differs from what was published',
  );
}

/** Of the variants of one identity exactly one counts; the others are dead letters. Returns those that count. */
function checkConflicts(world: World, accepted: readonly PlannedEvent[]): PlannedEvent[] {
  const byIdentity = Map.groupBy(accepted, ({ key, id }) => JSON.stringify([key, id]));
  return [...byIdentity.values()].map((all) => {
    const variants = [...new Map(all.map((event) => [event.time, event])).values()];
    const counted = variants.filter((event) => {
      return lettersOf(world, messageOf({ event }).data).length === 0;
    });
    assert.equal(
      counted.length,
      1,
      `${JSON.stringify(all[0])}: ${counted.length} of ${variants.length} variants count`,
    );
    return counted[0]!;
  });
}

function checkKey(world: World, key: string, events: readonly PlannedEvent[]): void {
  const rows = rowsOf(world, key);
  if (events.length === 0) return assert.equal(rows.length, 0, `${key} has a summary of nothing`);
  assert.ok(rows.length > 0, `${key} has no summary`);
  checkAnnounced(world, key, rows);
  const lives = [...Map.groupBy(rows, ({ generation }) => generation)];
  if (!world.plan.ttl) assert.equal(lives.length, 1, `${key} began a second life`);
  const document = [...world.store.dump().values()].find((one) => one['key'] === key);
  if (document !== undefined) {
    const newest = rows.filter(({ generation }) => generation === document['generation']).at(-1)!;
    assert.equal(document['version'], newest.total_steps, `${key} counts other events than its last summary`);
    assert.equal(document['confirmed'], document['version'], `${key} is not covered`);
  }
  const last = lives.map(([, ofLife]) => ofLife.at(-1)!);
  assert.equal(
    last.reduce((sum, row) => sum + row.total_steps, 0),
    events.length,
    `${key}: its last summaries do not count the published events`,
  );
  if (lives.length > 1) {
    const ids = last.flatMap(({ steps }) => steps.map((step) => step.event_id));
    assert.deepEqual(ids.sort(), events.map(({ id }) => id).sort(), `${key}: its lives do not share the events`);
  }
  for (const [, ofLife] of lives) checkLife(world, key, ofLife, events, lives.length === 1);
}

/** The topic has every revision of the table, each with one content. */
function checkAnnounced(world: World, key: string, rows: readonly SummaryRow[]): void {
  const name = (generation: unknown, revision: unknown) => `${String(generation)} ${String(revision)}`;
  const byName = new Map(rows.map((row) => [name(row.generation, row.revision), row]));
  const published = world.bus.published('summaries').filter(({ attributes }) => attributes['unique_key'] === key);
  assert.deepEqual(
    new Set(published.map(({ attributes }) => name(attributes['generation'], attributes['revision']))),
    new Set(byName.keys()),
    `${key}: the revisions of the topic are not those of the table`,
  );
  const contents = new Map<string, unknown>();
  for (const { data, attributes } of published) {
    assert.equal(contents.get(attributes['id']!) ?? data, data, `${key}: an id has two contents`);
    contents.set(attributes['id']!, data);
    const row = byName.get(name(attributes['generation'], attributes['revision']))!;
    const body = JSON.parse(data as string) as SummaryRow;
    assert.deepEqual([body.total_steps, body.state, body.complete], [row.total_steps, row.state, row.complete]);
  }
  assert.equal(contents.size, rows.length);
}

/** The revisions of one life of a key, in their order. */
function checkLife(
  world: World,
  key: string,
  rows: readonly SummaryRow[],
  events: readonly PlannedEvent[],
  only: boolean,
): void {
  const first = rows[0]!;
  rows.forEach((row, i) => {
    assert.equal(row.revision, i + 1, `${key}: the revisions are not 1, 2, 3, ...`);
    if (i > 0) assert.ok(row.total_steps > rows[i - 1]!.total_steps, `${key}: revision ${i + 1} covers nothing new`);
    assert.equal(row.late_events, row.total_steps - first.total_steps, `${key}: late events of revision ${i + 1}`);
    checkRow(world, row, only && i === rows.length - 1 ? events : coveredBy(row, events));
    if (row.state === 'expired') {
      assert.ok(row.written_at >= row.generation + world.config.silence - SKEW, `${key} expired too early`);
    } else if (!row.complete && rows.findIndex(({ state }) => state === 'finished') === i) {
      const coda = firstArrivalOfCoda(world, key);
      assert.ok(row.written_at >= coda + world.config.grace - SKEW, `${key} did not wait for the missing numbers`);
    }
  });
}

/** One row for each revision, in their order; repeats are identical. */
function rowsOf(world: World, key: string): readonly SummaryRow[] {
  const rows = world.summaries.commits.map(({ row }) => row).filter((row) => row.unique_key === key);
  const byRevision = new Map<string, SummaryRow>();
  for (const row of rows) {
    const name = `${row.generation} ${row.revision}`;
    assert.deepEqual(row, byRevision.get(name) ?? row, `${key}: revision ${row.revision} has two contents`);
    byRevision.set(name, row);
  }
  return [...byRevision.values()].sort((a, b) => a.generation - b.generation || a.revision - b.revision);
}

/** The events that a row says it covers; null when it does not list them all. */
function coveredBy(row: SummaryRow, events: readonly PlannedEvent[]): readonly PlannedEvent[] | null {
  if (row.steps.length < row.total_steps) return null;
  return row.steps.map((step) => events.find(({ id }) => id === step.event_id)!);
}

function checkRow(world: World, row: SummaryRow, covered: readonly PlannedEvent[] | null): void {
  if (covered === null) return;
  const expected = foldOf(covered, world.config.stepsKept);
  const { unique_key: key, revision } = row;
  const found: Record<string, unknown> = Object.fromEntries(
    Object.keys(expected).map((name) => [name, row[name as keyof SummaryRow]]),
  );
  found['fields'] = JSON.parse(row.fields ?? 'null') as unknown;
  assert.deepEqual(found, { ...expected }, `${key}: revision ${revision} is not the fold of its events`);
}

function firstArrivalOfCoda(world: World, key: string): number {
  const codas = world.events.commits.filter(
    ({ row }) => row.unique_key === key && world.config.completionStatuses.includes(row.event_status),
  );
  return Math.min(...codas.map(({ row }) => row.ingest_time));
}

/** Each event is joined and published under one result id with one content. */
function checkJoin(world: World): void {
  const contents = new Map<string, string>();
  const identities = new Set<string>();
  for (const { data, attributes } of world.bus.published('results')) {
    const id = attributes['result_id']!;
    const body = JSON.parse(data as string) as { unique_key: string; event_id: string; enriched: boolean };
    assert.equal(contents.get(id) ?? data, data, `result ${id} has two contents`);
    contents.set(id, data as string);
    identities.add(JSON.stringify([body.unique_key, body.event_id]));
    const row = world.events.commits.find(
      (one) => one.row.unique_key === body.unique_key && one.row.event_id === body.event_id,
    )!.row;
    if (row.join_key === 'known') assert.ok(body.enriched, `${data as string} was not enriched`);
    if (row.join_key === 'never') assert.ok(!body.enriched);
  }
  const stored = new Set(world.events.commits.map(({ row }) => JSON.stringify([row.unique_key, row.event_id])));
  assert.deepEqual(identities, stored, 'the joined events are not the stored ones');
  assert.equal(contents.size, stored.size, 'an event has two result ids');
  assert.equal(world.warehouse.ledger.length, stored.size, 'the ledger repeats a result');
  checkJobs(world);
}

/** Whoever goes on with a run says exactly what the first one said: the window and its days were saved before. */
function checkJobs(world: World): void {
  const statements = new Map<string, string>();
  for (const { job } of world.warehouse.jobs.values()) {
    if (job.labels['codaflow_step'] !== 'merge') continue;
    const run = String(job.parameters['run_id']!.value);
    const statement = JSON.stringify([job.sql, job.parameters]);
    assert.equal(statements.get(run) ?? statement, statement, `the run ${run} has two statements`);
    statements.set(run, statement);
  }
}
