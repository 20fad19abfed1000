import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startCloud, type Cloud } from './cloud.ts';
import { Chaos } from './demo/chaos.ts';
import { Console } from './demo/console.ts';
import { readInputs } from './demo/inputs.ts';
import { makeFolder } from './demo/folders.ts';
import { invitation } from './demo/invitation.ts';
import { HELP, parseOptions, UsageError, type Options } from './demo/options.ts';
import { render } from './demo/report.ts';
import { replay } from './demo/run.ts';
import { DEMO_NOTE, DEMO_SCHEDULE, DEMO_SETTINGS } from './demo/settings.ts';
import { toldToEnd } from './ending.ts';
import { announce, withdraw } from './running.ts';

/** `npm start`: the whole of Codaflow on this machine. Exit codes: 0 correct, 1 wrong, 2 wrong command line. */

async function main(options: Options): Promise<number> {
  const { signal, ended } = toldToEnd();
  const console = new Console(options.json);
  const { stateDir } = options;
  const logDir = stateDir === null ? await mkdtemp(path.join(tmpdir(), 'codaflow-logs-')) : path.join(stateDir, 'logs');
  let cloud: Cloud | null = null;
  let keepLogs = stateDir !== null;
  try {
    const inputs = await readInputs(options, Date.now() * 1000);
    console.line(`Codaflow on this machine: ${inputs.title}`);
    console.line(DEMO_NOTE);
    const chaos = options.chaos === null ? null : new Chaos(options.chaos);
    cloud = await startCloud({
      ...(stateDir !== null && { stateDir }),
      ...(chaos !== null && { faults: chaos.hook }),
      logDir,
      callers: !options.once,
      settings: { ...DEMO_SETTINGS, COMPLETION_STATUSES: inputs.completion.join(',') },
      everySeconds: DEMO_SCHEDULE,
    });
    if (!options.once) await announce(cloud.addresses);
    signal.throwIfAborted();
    const report = await replay({ cloud, inputs, options, console, chaos, signal });
    if (options.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    else console.line(render(report, console.colour));
    keepLogs ||= report.verdict === 'wrong';
    if (keepLogs) console.line(`The logs of the functions are in ${logDir}`);
    if (!options.once) {
      console.line(invitation(cloud));
      await ended;
    }
    return report.verdict === 'correct' ? 0 : 1;
  } catch (error) {
    if (signal.aborted) return 130;
    keepLogs = true;
    console.done('');
    console.line(`Failed: ${error instanceof Error ? error.message : String(error)}`);
    if (process.env['DEBUG'] !== undefined && error instanceof Error) console.line(error.stack);
    for (const one of Object.values(cloud?.functions ?? {})) showTroubles(console, one.name, one.lines);
    console.line(`The logs of the functions are in ${logDir}`);
    return 1;
  } finally {
    if (cloud !== null) await withdraw(cloud.addresses);
    await cloud?.stop();
    if (!keepLogs) await rm(logDir, { recursive: true, force: true });
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
    if (options.exportDir !== null) makeFolder('--export', options.exportDir);
    if (options.stateDir !== null) makeFolder('--state', options.stateDir);
    process.exitCode = await main(options);
  }
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\nnpm start -- --help lists the options.\n`);
  process.exitCode = 2;
}
