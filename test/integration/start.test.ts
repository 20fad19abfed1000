import { PubSub } from '@google-cloud/pubsub';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fewFlights, Launcher, scratch } from './launcher.ts';

interface ReportJson {
  readonly verdict: string;
  readonly events: { readonly messages: number; readonly overHttp: number };
  readonly checks: readonly { readonly name: string; readonly found: number; readonly expected: number }[];
  readonly functions: Readonly<Record<string, { readonly starts: number }>>;
}

const FLIGHTS = ['--completion', 'arrived,cancelled', '--shuffle', '7', '--repeat', '0.05'];

/** Processes whose command line names the framework of this project and that listen for `pid`'s functions. */
async function childrenOf(pid: number): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  const rows = stdout.trim().split('\n').map((line) => line.trim().split(/\s+/)); // prettier-ignore
  return rows.filter(([, parent]) => parent === String(pid)).map(([child]) => child!);
}

interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm run query`. */
async function query(sql: string): Promise<Answer> {
  const command = path.resolve(import.meta.dirname, '../../local/query.ts');
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [command, sql])) };
  } catch (error) {
    return error as Answer;
  }
}

function alive(pid: string): boolean {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}

test(
  'a replay out of order, with repeats, under chaos, ends right, and exports what it compared',
  { timeout: 120_000 },
  async () => {
    const folder = scratch();
    const out = path.join(folder, 'out');
    const args = [...FLIGHTS, '--data', fewFlights(folder, 400), '--once', '--json', '--chaos', '3', '--export', out];
    const launcher = new Launcher(args);
    assert.equal(await launcher.exit(), 0, launcher.output);
    const report = JSON.parse(launcher.stdout) as ReportJson;
    assert.equal(report.verdict, 'correct');
    assert.ok(
      Object.values(report.functions).some(({ starts }) => starts > 1),
      'no function was killed',
    );
    const rows = (name: string): object[] =>
      readFileSync(path.join(out, `${name}.ndjson`), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as object);
    const expected = (name: string): number => report.checks.find((check) => check.name === name)!.expected;
    assert.equal(readdirSync(out).length, 5);
    assert.equal(rows('events_unique').length, expected('unique'));
    assert.equal(rows('summaries_latest').length, expected('summaries'));
    assert.equal(rows('joined').length, expected('joined'));
    assert.ok(rows('results').length >= expected('results'));
    assert.match(
      (rows('events_unique')[0] as { event_time: string }).event_time,
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/,
    );
    assert.deepEqual(Object.keys(rows('results')[0]!), ['message_id', 'attributes', 'message']);
  },
);

test("one publishes an event of one's own; Ctrl-C ends everything", { timeout: 120_000 }, async () => {
  const launcher = new Launcher([...FLIGHTS, '--data', fewFlights(scratch(), 80)]);
  const line = await launcher.line(/PUBSUB_EMULATOR_HOST=/);
  assert.match(launcher.output, /Verdict: correct/);
  process.env['METADATA_SERVER_DETECTION'] = 'none';
  process.env['PUBSUB_EMULATOR_HOST'] = /PUBSUB_EMULATOR_HOST=(\S+)/.exec(line)![1]!;
  const pubsub = new PubSub({ projectId: 'codaflow-local' });
  const event = {
    event_id: 'mine',
    unique_key: 'my/key',
    event_status: 'arrived',
    timestamp: new Date().toISOString(),
  };
  await pubsub.topic('events').publishMessage({ json: event });
  await pubsub.close();
  assert.match(launcher.output, /event_status: "arrived"/, 'the invitation names a status that completes');
  const ask = async (sql: string): Promise<string> => (await query(sql)).stdout;
  // Nothing tells a client when its event is through: it asks.
  let summary = '';
  for (let asked = 0; asked < 50 && !summary.includes('arrived'); asked++) {
    summary = await ask("SELECT final_status, total_steps FROM summaries_latest WHERE unique_key = 'my/key'");
    await sleep(100);
  }
  assert.match(summary, /arrived\s+1/);
  assert.match(await ask("SELECT event_id FROM events_unique WHERE unique_key = 'my/key'"), /mine/);
  await launcher.line(/ summary +"my\/key" +finished by "arrived" after 1 step/);
  const refused = await query('DELETE FROM events WHERE true');
  assert.deepEqual([refused.code, refused.stdout], [2, '']);
  assert.match(refused.stderr, /only reads/);

  const sh = async (command: string): Promise<string> => (await promisify(execFile)('sh', ['-c', command])).stdout;
  const [write, look] = launcher.output.match(/^curl .*$/gm)!;
  assert.match(await sh(write), /"outcome":"stored"/);
  assert.match(await sh(look!), /"state":"open".*"held":true/);
  const [task] = /^METADATA_SERVER_DETECTION=none npx[^']*'[^']*CloudTasksClient[^']*'$/m.exec(launcher.output)!;
  assert.match(await sh(task.replace('+ 10 }', '- 1 }')), /codaflow-urgent\/tasks\/\d+/);
  for (let asked = 0, parked = ''; !parked.includes('"held":true'); asked++) {
    assert.ok(asked < 50, parked);
    parked = await sh(look!.replace('begun', 'checked'));
    await sleep(100);
  }

  const children = await childrenOf(launcher.child.pid!);
  assert.equal(children.length, 6, 'six functions');
  launcher.child.kill('SIGINT');
  await launcher.exit();
  assert.match(launcher.output, /\nEnded: nothing keeps running\.$/);
  assert.deepEqual(children.filter(alive), []);
  const after = await query('SELECT 1');
  assert.deepEqual([after.code, after.stderr], [1, 'no local cloud is running; start one with npm start\n']);
});

test(
  'a state folder: own events count, what is there is not published again, and a second run at once is told',
  { timeout: 180_000 },
  async () => {
    const folder = scratch();
    const state = ['--state', path.join(folder, 'state')];
    const args = [...state, '--data', fewFlights(folder, 80)];
    const first = new Launcher([...args, ...FLIGHTS, '--json']);
    const line = await first.line(/PUBSUB_EMULATOR_HOST=/);
    const events = (report: ReportJson): number => report.checks.find(({ name }) => name === 'unique')!.expected;
    const flights = events(JSON.parse(first.stdout) as ReportJson);
    const other = new Launcher([...args, '--once']);
    assert.equal(await other.exit(), 2);
    assert.match(
      other.output,
      new RegExp(`\\n--state \\S+ is in use by another npm start \\(process ${first.child.pid}\\)[^\n]*$`),
    );

    process.env['METADATA_SERVER_DETECTION'] = 'none';
    process.env['PUBSUB_EMULATOR_HOST'] = /PUBSUB_EMULATOR_HOST=(\S+)/.exec(line)![1]!;
    const pubsub = new PubSub({ projectId: 'codaflow-local' });
    const event = {
      event_id: 'mine',
      unique_key: 'mine',
      event_status: 'arrived',
      timestamp: new Date().toISOString(),
    };
    await pubsub.topic('events').publishMessage({ json: event });
    await pubsub.topic('events').publishMessage({ data: Buffer.from('no json') });
    await pubsub.close();
    await promisify(execFile)('sh', ['-c', first.output.match(/^curl .*$/gm)![0]]);
    first.child.kill('SIGKILL');
    await first.exit();
    assert.equal((await query('SELECT 1')).stderr, 'no local cloud is running; start one with npm start\n');

    for (const [again, messages] of [
      [[], 0],
      [['--again'], flights],
    ] as const) {
      const next = new Launcher([...args, ...again, '--once', '--json']);
      assert.equal(await next.exit(), 0, next.output);
      const report = JSON.parse(next.stdout) as ReportJson;
      assert.deepEqual([report.verdict, report.events.messages, events(report)], ['correct', messages, flights + 2]);
      assert.equal(report.events.overHttp, 1);
      assert.equal(report.checks.find(({ name }) => name === 'dead_letters')!.found, 1);
    }
    const different = new Launcher([...args, '--completion', 'landed', '--once']);
    assert.equal(await different.exit(), 2);
    assert.match(different.output, /^--completion landed: the keys in .* were completed by arrived,cancelled/);
  },
);

test('a launcher that is killed takes its functions with it', { timeout: 60_000 }, async () => {
  const launcher = new Launcher([...FLIGHTS, '--once', '--data', fewFlights(scratch(), 400), '--rate', '10']);
  await launcher.line(/Publishing/);
  const children = await childrenOf(launcher.child.pid!);
  assert.equal(children.length, 4);
  launcher.child.kill('SIGKILL');
  await launcher.exit();
  for (let waited = 0; waited < 100 && children.some(alive); waited++) await sleep(50);
  assert.deepEqual(children.filter(alive), []);
});

test(
  'recorded times are too old for the table: everything is a dead letter, as expected',
  { timeout: 60_000 },
  async () => {
    const launcher = new Launcher([
      ...FLIGHTS,
      '--once',
      '--json',
      '--as-recorded',
      '--data',
      fewFlights(scratch(), 80),
    ]);
    assert.equal(await launcher.exit(), 0, launcher.output);
    const { checks } = JSON.parse(launcher.stdout) as ReportJson;
    assert.equal(checks.find(({ name }) => name === 'unique')!.found, 0);
    assert.ok(checks.find(({ name }) => name === 'dead_letters')!.found > 0);
  },
);

test('what cannot be used is named in one line, before anything starts', async () => {
  const folder = scratch();
  const csv = path.join(folder, 'events.csv');
  writeFileSync(csv, 'unique_key,event_status\nk,done\n');
  const mistakes: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [['--frobnicate'], /^Unknown option '--frobnicate' \(npm start -- --help/],
    [['--data', '/nowhere.ndjson'], /^cannot read \/nowhere.ndjson: there is no such file$/],
    [['--data', csv], /events\.csv, line 1: .* is no JSON object/],
    [['--reference', csv], /events\.csv, line 1: .* is no JSON object/],
    [['--export', csv], /^--export .*: cannot write there \(ENOTDIR\)/],
    [['--state', folder], /^--state .*: the folder is not empty/],
  ];
  const temporary = path.join(folder, 'temporary');
  mkdirSync(temporary);
  for (const [args, message] of mistakes) {
    const launcher = new Launcher(args, { TMPDIR: temporary });
    assert.equal(await launcher.exit(), 2, launcher.output);
    assert.match(launcher.output, message);
    assert.equal(launcher.output.split('\n').length, 1, launcher.output);
  }
  assert.deepEqual(readdirSync(temporary), [], 'a folder is left');
});
