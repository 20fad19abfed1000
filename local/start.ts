import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startCloud, type Cloud } from './cloud.ts';
import { Chaos } from './demo/chaos.ts';
import { check } from './demo/check.ts';
import { Console } from './demo/console.ts';
import { EventLog } from './demo/event-log.ts';
import { makeFolder, remember, remembered, type Remembered } from './demo/folders.ts';
import { readInputs, type Inputs } from './demo/inputs.ts';
import { invitation } from './demo/invitation.ts';
import { Live } from './demo/live.ts';
import { HELP, InputError, parseOptions, type Options } from './demo/options.ts';
import { render } from './demo/report.ts';
import { replay } from './demo/run.ts';
import { DEMO_NOTE, DEMO_SCHEDULE, DEMO_SETTINGS } from './demo/settings.ts';
import { inUse } from './demo/in-use.ts';
import { toldToEnd } from './ending.ts';
import { announce, withdraw } from './running.ts';

/** `npm start`: the whole of Codaflow on this machine. Exit codes: 0 correct, 1 wrong or failed, 2 unusable input. */

interface Start {
  readonly options: Options;
  readonly inputs: Inputs;
  readonly before: Remembered | null;
  readonly console: Console;
}

async function main({ options, inputs, before, console }: Start): Promise<number> {
  const { signal, ended } = toldToEnd();
  const { stateDir } = options;
  const logDir = stateDir === null ? await mkdtemp(path.join(tmpdir(), 'codaflow-logs-')) : path.join(stateDir, 'logs');
  const live = new Live((line) => console.line(line));
  let cloud: Cloud | null = null;
  let log: EventLog | null = null;
  let keepLogs = stateDir !== null;
  try {
    console.note(`Codaflow on this machine: ${inputs.title}`);
    console.note(DEMO_NOTE);
    const chaos = options.chaos === null ? null : new Chaos(options.chaos);
    cloud = await startCloud({
      ...(stateDir !== null && { stateDir }),
      ...(chaos !== null && { faults: chaos.hook }),
      logDir,
      listener: () => {
        const opened = (log = new EventLog(stateDir));
        return (topic, messages) => {
          opened.listener(topic, messages);
          live.listener(topic, messages);
        };
      },
      callers: !options.once,
      settings: { ...DEMO_SETTINGS, COMPLETION_STATUSES: inputs.completion.join(',') },
      everySeconds: DEMO_SCHEDULE,
    });
    if (!options.once) await announce(cloud.addresses);
    signal.throwIfAborted();
    const files = before?.files ?? {};
    const { completion, reference, hash } = inputs;
    const replayed = await replay({
      ...{ cloud, inputs, options, log: log!, console, chaos, signal },
      days: files[hash] ?? null,
      onPrepared: (days) => {
        const known = inputs.lines.length === 0 ? files : { ...files, [hash]: days };
        remember(stateDir, { version: 1, completion, reference, files: known });
      },
    });
    const { exportDir } = options;
    const report = await check({ cloud, inputs, log: log!, replayed, exportDir, now: Date.now() * 1000 });
    if (options.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    else console.line(render(report, console.colour, console.width));
    if (exportDir !== null) console.line(`What came out is in ${exportDir}`);
    keepLogs ||= report.verdict === 'wrong';
    if (keepLogs) console.line(`The logs of the functions are in ${logDir}`);
    if (!options.once) {
      console.line(`\n${invitation(cloud, inputs)}`);
      live.start();
      await ended;
    }
    return report.verdict === 'correct' ? 0 : 1;
  } catch (error) {
    if (signal.aborted) return 130;
    const other = stateDir === null ? null : inUse(stateDir, error);
    if (other !== null) throw other;
    keepLogs = true;
    console.clear();
    console.line(`Failed: ${error instanceof Error ? error.message : String(error)}`);
    if (process.env['DEBUG'] !== undefined && error instanceof Error) console.line(error.stack);
    for (const one of Object.values(cloud?.functions ?? {})) showTroubles(console, one.name, one.lines);
    console.line(`The logs of the functions are in ${logDir}`);
    return 1;
  } finally {
    console.clear();
    if (cloud !== null) await withdraw();
    await cloud?.stop();
    (log as EventLog | null)?.close();
    if (!keepLogs) await rm(logDir, { recursive: true, force: true });
    if (signal.aborted) console.line(`Ended: nothing keeps running${stateDir === null ? '' : `; ${stateDir} has the state, for the next --state ${stateDir}`}.`); // prettier-ignore
  }
}

function showTroubles(console: Console, name: string, lines: readonly string[]): void {
  const troubles = lines.filter((line) => !/"severity":"(DEBUG|INFO)"/.test(line)).slice(-5);
  if (troubles.length === 0) return;
  console.line(`Last troubles of ${name}:`);
  for (const line of troubles) console.line(`  ${line.slice(0, 600)}`);
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') process.stdout.write(HELP);
  else {
    const { stateDir, exportDir, json } = options;
    if (exportDir !== null) makeFolder('--export', exportDir);
    if (stateDir !== null) makeFolder('--state', stateDir);
    const before = remembered(stateDir);
    const inputs = await readInputs(options, before, Date.now() * 1000);
    process.exitCode = await main({ options, inputs, before, console: new Console(json) });
  }
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
