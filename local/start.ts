import { Console } from './demo/console.ts';
import { makeFolder, remembered } from './demo/folders.ts';
import { readInputs } from './demo/inputs.ts';
import { HELP, InputError, parseOptions } from './demo/options.ts';

/** `npm start`: the whole of Codaflow on this machine. Exit codes: 0 correct, 1 wrong or failed, 2 unusable input. */

try {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') process.stdout.write(HELP);
  else {
    const { stateDir, exportDir, json } = options;
    if (exportDir !== null) makeFolder('--export', exportDir);
    if (stateDir !== null) makeFolder('--state', stateDir);
    const before = remembered(stateDir);
    const inputs = await readInputs(options, before, Date.now() * 1000);
    // Loaded only now: it brings the servers and the clients of Google.
    const { run } = await import('./demo/session.ts');
    process.exitCode = await run({ options, inputs, before, console: new Console(json) });
  }
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
