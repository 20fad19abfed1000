import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { NODE_SETTINGS } from '../../local/functions.ts';
import { freePort, isListening } from '../../local/ports.ts';

/** What a process has used since it began. */
export interface Usage {
  /** User and system time, all threads. */
  readonly cpuMicros: number;
  /** Bytes. */
  readonly rss: number;
  readonly heapUsed: number;
  /** Highest resident memory. */
  readonly peak: number;
}

export interface SubjectOptions {
  /** Name of the function in its source. */
  readonly target: string;
  /** Folder or file that the functions framework loads. */
  readonly source: string;
  readonly env: Readonly<Record<string, string>>;
  /** Flags of Node; a bound of the heap by default. */
  readonly flags?: readonly string[];
  /** Working directory; the project's folder by default. */
  readonly cwd?: string;
}

export const ROOT = path.resolve(import.meta.dirname, '../..');
export const FRAMEWORK = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@google-cloud/functions-framework')),
  'main.js',
);
const PROBE = path.join(import.meta.dirname, 'probe.mjs');
const START_MS = 30_000;
/** What an instance with 512 MiB leaves for the heap. */
export const HEAP = '--max-old-space-size=320';

/** One function in the functions framework, in a process of its own, with a probe inside. */
export class Subject {
  readonly url: string;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.pid = child.pid!;
    this.url = `http://127.0.0.1:${port}/`;
    for (const stream of [child.stdout!, child.stderr!]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.#lines.push(line);
        if (this.#lines.length > 50) this.#lines.shift();
      });
    }
  }

  static async start({ target, source, env, flags = [HEAP], cwd = ROOT }: SubjectOptions): Promise<Subject> {
    const port = await freePort();
    const child = spawn(
      process.execPath,
      [...flags, '--import', PROBE, FRAMEWORK, `--target=${target}`, `--source=${source}`, `--port=${port}`],
      {
        cwd,
        env: { ...machine(), NODE_OPTIONS: NODE_SETTINGS.NODE_OPTIONS, ...env },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    );
    const subject = new Subject(child, port);
    const end = Date.now() + START_MS;
    while (!(await isListening(port))) {
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > end) {
        child.kill('SIGKILL');
        throw new Error(`${target} does not start:\n${subject.log()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return subject;
  }

  /** The last lines that it wrote. */
  log(): string {
    return this.#lines.slice(-20).join('\n');
  }

  /** With `collect` after a garbage collection, so that the heap is what is alive. */
  async usage(collect = false): Promise<Usage> {
    this.#child.send({ collect });
    const [usage] = (await once(this.#child, 'message')) as [Usage];
    return usage;
  }

  /** Resolves to the exit code, null after a signal. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const gone = once(this.#child, 'exit');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 12_000);
    this.#child.kill(signal);
    await gone;
    clearTimeout(timer);
    return this.#child.exitCode;
  }
}

/** Nothing of the environment of whoever started the benchmark but what a process needs. */
function machine(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
