import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startCloud, type Cloud } from '../cloud.ts';
import { Chaos } from './chaos.ts';
import { check } from './check.ts';
import { Console } from './console.ts';
import { EventLog } from './event-log.ts';
import { remember, type Remembered } from './folders.ts';
import type { Inputs } from './inputs.ts';
import { invitation } from './invitation.ts';
import { Live } from './live.ts';
import type { Options } from './options.ts';
import { render } from './report.ts';
import { replay } from './run.ts';
import { DEMO_NOTE, DEMO_SCHEDULE, DEMO_SETTINGS, TRIED } from './settings.ts';
import { loadTables } from './tables.ts';
import { inUse } from './in-use.ts';
import { toldToEnd } from '../ending.ts';
import { announce, withdraw } from '../running.ts';

/** What a run from the start of the cloud to its end needs. */
export interface Session {
  readonly options: Options;
  readonly inputs: Inputs;
  readonly before: Remembered | null;
  readonly console: Console;
}

/**
 * Returns the exit code.
 *
 * @throws InputError when the state folder is in use
 */
export async function run({ options, inputs, before, console }: Session): Promise<number> {
  const { signal, ended } = toldToEnd();
  signal.addEventListener('abort', () => console.glimpse('Ending ...'));
  const { stateDir } = options;
  const logDir = stateDir === null ? await mkdtemp(path.join(tmpdir(), 'codaflow-logs-')) : path.join(stateDir, 'logs');
  const live = new Live((line) => console.line(line));
  let cloud: Cloud | null = null;
  let log: EventLog | null = null;
  let keepLogs = stateDir !== null;
  const { completion, reference, fields, hash } = inputs;
  const files = before?.files ?? {};
  const keep = (moved: Remembered['files']): void => {
    remember(stateDir, { version: 1, completion, reference, fields, files: moved });
  };
  try {
    console.note(`Codaflow on this machine: ${inputs.title}`);
    console.note(DEMO_NOTE);
    for (const name of TRIED.filter((one) => process.env[one] !== undefined && !(one in options.set)))
      console.note(`${name} of your environment reaches no function here; say --set ${name}=VALUE`);
    const chaos = options.chaos === null ? null : new Chaos(options.chaos);
    cloud = await startCloud({
      ...(stateDir !== null && { stateDir }),
      ...(chaos !== null && { faults: chaos.hook }),
      logDir,
      listener: () => {
        keep(files);
        const opened = (log = new EventLog(stateDir));
        return (topic, messages) => {
          opened.listener(topic, messages);
          live.listener(topic, messages);
        };
      },
      onTables: (bigquery) => loadTables(bigquery, inputs.tables),
      callers: !options.once,
      settings: {
        ...DEMO_SETTINGS,
        COMPLETION_STATUSES: inputs.completion.join(','),
        ...{ ...options.set, EVENT_FIELDS: fields.at(-1)!.text },
      },
      everySeconds: DEMO_SCHEDULE,
    });
    if (!options.once) await announce(cloud.addresses);
    signal.throwIfAborted();
    const replayed = await replay({
      ...{ cloud, inputs, options, log: log!, console, chaos, signal },
      days: files[hash] ?? null,
      onPrepared: (days) => keep(inputs.lines.length === 0 ? files : { ...files, [hash]: days }),
    });
    const { exportDir } = options;
    const report = await check({ cloud, inputs, log: log!, replayed, exportDir, now: Date.now() * 1000 });
    if (options.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    else console.line(render(report, console.colour, console.width));
    if (exportDir !== null) console.line(`What came out is in ${exportDir}`);
    keepLogs ||= report.verdict === 'wrong';
    if (keepLogs) console.line(`The logs of the functions are in ${logDir}`);
    if (!options.once) {
      console.line(`\n${invitation(cloud, { ...inputs, hosts: options.set['PROBE_HOSTS'] })}`);
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

/** Usual lines of the functions and of their framework. */
const NO_TROUBLE = /"severity":"(DEBUG|INFO)"|^(Serving function|Function: |Signature type: |URL: )/;

function showTroubles(console: Console, name: string, lines: readonly string[]): void {
  const troubles = lines.filter((line) => !NO_TROUBLE.test(line)).slice(-5);
  if (troubles.length === 0) return;
  console.line(`Last troubles of ${name}:`);
  for (const line of troubles) console.line(`  ${line.slice(0, 600)}`);
}
