/** `npm run bench`: what an event costs, beside the bare framework, the naive way and a peer. */
import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { backpressure } from './backpressure.ts';
import { chart } from './chart.ts';
import { CloudProcess } from './cloud-process.ts';
import { coldStarts } from './cold-start.ts';
import { COMPLETION, EventSource, type Keys } from './events.ts';
import { wakeUp } from './hints.ts';
import { joined } from './joined.ts';
import { longKey } from './long-key.ts';
import { measure, type Run } from './measure.ts';
import { installPeer } from './peer.ts';
import { million } from './million.ts';
import { readable } from './readable.ts';
import { tableSize } from './table-size.ts';
import { runsTable, startsTable, targetsTable } from './report.ts';
import { HEAP, ROOT } from './subject.ts';
import { judge, judgeLong, type Long, type Target } from './targets.ts';

const HELP = `npm run bench -- [--events N] [--starts N] [--only NAME] [--profile DIR] [--json]
  --events N     events of the fast runs (default 12000; the slow ones take a share of it)
  --starts N     starts of each entry point (default 3)
  --only NAME    runs whose name holds NAME, without targets
  --long NAME    only one of the long runs, with its targets: long-key, joined, table-size, backpressure, readable,
                 starts
  --rows N       events of the long key, rows of the join (default 100000)
  --million      only memory over a million events; --rows for another number
  --profile DIR  CPU profiles of the functions
  --chart FILE   an SVG of events per second of CPU
  --flag FLAG    a flag of Node for the functions, such as --flag=--single-threaded-gc
  --json         print only {targets, runs, machine}
`;

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '12000' },
    starts: { type: 'string', default: '3' },
    only: { type: 'string' },
    long: { type: 'string' },
    rows: { type: 'string' },
    million: { type: 'boolean', default: false },
    profile: { type: 'string' },
    chart: { type: 'string' },
    flag: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const EVENTS = Number(values.events);
const WARM_UP = 3000;
const say = (text: string) => process.stderr.write(`${text}\n`);
const source = new EventSource();
const profiling = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`];
const flags = [HEAP, ...values.flag, ...profiling];
const SETTINGS = { COMPLETION_STATUSES: COMPLETION };
const SUBJECTS = path.join(ROOT, 'test/bench/subjects');

interface Plan {
  readonly name: string;
  readonly target: string;
  readonly inFlight: number;
  readonly share: number;
  readonly keys?: Keys;
}

const PLANS: readonly Plan[] = [
  { name: 'ceiling', target: 'ceiling', inFlight: 80, share: 1 },
  { name: 'naive', target: 'naive', inFlight: 80, share: 0.1 },
  { name: 'naive alone', target: 'naive', inFlight: 1, share: 0.03 },
  { name: 'peer', target: 'peer', inFlight: 80, share: 0.2 },
  { name: 'codaflow 1', target: 'ingest', inFlight: 1, share: 0.05 },
  { name: 'codaflow 20', target: 'ingest', inFlight: 20, share: 1 },
  { name: 'codaflow 80', target: 'ingest', inFlight: 80, share: 1 },
  { name: 'codaflow 500', target: 'ingest', inFlight: 500, share: 1 },
  { name: 'one key', target: 'ingest', inFlight: 80, share: 1, keys: 'one' },
  { name: 'bursts', target: 'ingest', inFlight: 80, share: 1, keys: 'bursts' },
  { name: 'finish', target: 'finish', inFlight: 80, share: 0.2 },
];

async function run(cloud: CloudProcess, plan: Plan): Promise<Run> {
  const events = Math.max(50, Math.round(EVENTS * plan.share));
  // So many that the code is compiled as it stays: a process that has just begun takes half as much again.
  const warmUp = plan.inFlight === 1 ? events : WARM_UP;
  const id = plan.name.replaceAll(' ', '-');
  const own = plan.target === 'ingest' || plan.target === 'finish';
  const body =
    plan.target === 'finish'
      ? await wakeUp(cloud, source, SETTINGS, warmUp + events)
      : (n: number) => source.push(n, id, plan.keys);
  return measure(cloud, {
    name: plan.name,
    target: plan.target,
    source: own ? ROOT : path.join(SUBJECTS, `${plan.target}.${plan.target === 'ceiling' ? 'mjs' : 'ts'}`),
    inFlight: plan.inFlight,
    events,
    warmUp,
    settings: SETTINGS,
    flags,
    body,
  });
}

const machine = { cpu: os.cpus()[0]?.model ?? '', cores: os.cpus().length, node: process.version };
const ROWS = Number(values.rows ?? 100_000);

/** Runs by name; each once, with a local cloud of its own, so that no table holds what another run left. */
const LONG: Readonly<Record<keyof Long, (cloud: CloudProcess) => Promise<Partial<Long>>>> = {
  'long-key': async (cloud) => ({ 'long-key': await longKey(cloud, ROWS, SETTINGS) }),
  joined: async (cloud) => ({ joined: await joined(cloud, source, ROWS, flags) }),
  'table-size': async (cloud) => ({ 'table-size': await tableSize(cloud) }),
  backpressure: async (cloud) => ({ backpressure: await backpressure(cloud, source, SETTINGS) }),
  readable: async () => ({ readable: await readable(200) }),
  starts: async (cloud) => ({ starts: await coldStarts(cloud, source, Number(values.starts)) }),
  million: async (cloud) => ({ million: await million(cloud, source, Number(values.rows ?? 1e6), SETTINGS) }),
};

async function long(names: readonly (keyof Long)[]): Promise<Partial<Long>> {
  let results: Partial<Long> = {};
  for (const name of names) {
    const cloud = await CloudProcess.start();
    try {
      const result = await LONG[name](cloud);
      say(`${name}: ${JSON.stringify(result[name])}`);
      results = { ...results, ...result };
    } finally {
      await cloud.stop();
    }
  }
  return results;
}

async function fast(): Promise<ReadonlyMap<string, Run>> {
  const missing = await installPeer();
  if (missing !== null) say(`NOT MEASURED: the peer cannot be installed (${missing})`);
  const runs = new Map<string, Run>();
  const cloud = await CloudProcess.start();
  try {
    for (const plan of PLANS) {
      if (values.only !== undefined && !plan.name.includes(values.only)) continue;
      if (plan.target === 'peer' && missing !== null) continue;
      const result = await run(cloud, plan);
      runs.set(plan.name, result);
      say(`${plan.name}: ${result.cpuMicros.toFixed(0)} us, ${result.eventsPerSecond.toFixed(0)} events/s`);
      if (Object.keys(result.failures).length > 0) say(`  failures: ${JSON.stringify(result.failures)}`);
    }
  } finally {
    await cloud.stop();
  }
  return runs;
}

function judgeFast(runs: ReadonlyMap<string, Run>): Target[] {
  const get = (name: string): Run => runs.get(name)!;
  return judge({
    ceiling: get('ceiling'),
    naive: get('naive'),
    naiveAlone: get('naive alone'),
    peer: runs.get('peer') ?? null,
    codaflow: new Map([1, 20, 80, 500].map((n) => [n, get(`codaflow ${n}`)])),
    hot: get('one key'),
    bursts: get('bursts'),
  });
}

if (values.only !== undefined && !PLANS.some(({ name }) => name.includes(values.only!))) {
  process.stderr.write(`--only must be part of one of ${PLANS.map(({ name }) => name).join(', ')}\n`);
  process.exit(2);
}
const EACH = ['starts', 'long-key', 'joined', 'table-size', 'backpressure', 'readable'] as const;
const chosen = values.million ? 'million' : values.long;
if (chosen !== undefined && !(chosen in LONG)) {
  process.stderr.write(`--long must be one of ${EACH.join(', ')}\n`);
  process.exit(2);
}
const runs = chosen === undefined ? await fast() : new Map<string, Run>();
const names = chosen !== undefined ? [chosen as keyof Long] : values.only === undefined ? EACH : [];
const further = await long(names);
const all = [...runs.values()];
const targets = [...(chosen === undefined && values.only === undefined ? judgeFast(runs) : []), ...judgeLong(further)];
if (values.chart !== undefined) {
  const shown = ['ceiling', 'naive', 'peer', 'codaflow 1', 'codaflow 20', 'codaflow 80', 'codaflow 500'];
  await writeFile(values.chart, chart(all.filter(({ name }) => shown.includes(name))));
}
if (values.json) {
  process.stdout.write(`${JSON.stringify({ targets, runs: all, long: further, machine }, null, 2)}\n`);
} else {
  const parts = [
    all.length === 0 ? '' : runsTable(all),
    further.starts === undefined ? '' : startsTable(further.starts),
    targets.length === 0 ? '' : targetsTable(targets),
    `${machine.cores} cores, ${machine.cpu}, Node ${machine.node}`,
  ];
  process.stdout.write(`${parts.filter((part) => part !== '').join('\n\n')}\n`);
}
