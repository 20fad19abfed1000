import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { peakMemory } from './memory.ts';
import { freePort, isListening } from './ports.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const FRAMEWORK = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@google-cloud/functions-framework')),
  'main.js',
);
const ORPHAN = path.join(import.meta.dirname, 'orphan.ts');
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 3_000;
const KEPT_LINES = 200;
/** What a function of 512 MiB leaves for the heap. */
const HEAP_MIB = 320;

/** How Terraform has Node.js run; a test compares them. Compiled code is for the archive that is deployed. */
export const NODE_SETTINGS = { NODE_OPTIONS: '--max-semi-space-size=16', NODE_COMPILE_CACHE: '.compile-cache' };

export interface FunctionOptions {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Folder for NAME.log; the last lines are kept in memory in any case. */
  readonly logDir?: string;
  /** Where it finds `joins/`; this project by default. */
  readonly cwd?: string;
}

/** One function as it runs in the cloud: the bundle in the functions framework, in a process of its own. */
export class FunctionProcess {
  readonly name: string;
  readonly port: number;
  readonly #options: FunctionOptions;
  readonly #log: WriteStream | null;
  readonly #lines: string[] = [];
  #child: ChildProcess | null = null;
  #peak = 0;
  #starts = 0;
  #sampler: NodeJS.Timeout | null = null;
  #stopping = false;

  private constructor(options: FunctionOptions, port: number) {
    this.name = options.name;
    this.port = port;
    this.#options = options;
    if (options.logDir !== undefined) mkdirSync(options.logDir, { recursive: true });
    this.#log =
      options.logDir === undefined ? null : createWriteStream(path.join(options.logDir, `${options.name}.log`));
  }

  /** Only names the place; `start` starts it. */
  static async create(options: FunctionOptions): Promise<FunctionProcess> {
    return new FunctionProcess(options, await freePort());
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  /** Highest resident memory of any of its processes so far, bytes. */
  get peakMemory(): number {
    return this.#peak;
  }

  /** How often it was started. */
  get starts(): number {
    return this.#starts;
  }

  /** Last lines of its log. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Starts the process, with further variables if wanted, and waits until it takes requests. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#starts++;
    const child = spawn(
      process.execPath,
      [
        `--max-old-space-size=${HEAP_MIB}`,
        '--enable-source-maps',
        '--import',
        ORPHAN,
        FRAMEWORK,
        `--target=${this.name}`,
        `--source=${ROOT}`,
        `--port=${this.port}`,
      ],
      {
        cwd: this.#options.cwd ?? ROOT,
        env: { ...inherited(), NODE_OPTIONS: NODE_SETTINGS.NODE_OPTIONS, ...this.#options.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        // A group of its own: Ctrl-C in a terminal is for the launcher, which ends its functions in order.
        detached: true,
      },
    );
    this.#child = child;
    for (const stream of [child.stdout!, child.stderr!]) {
      createInterface({ input: stream }).on('line', (line) => this.#keep(line));
    }
    child.once('exit', (code, signal) => this.#exited(child, code, signal));
    this.#sampler ??= setInterval(() => {
      this.sample().catch(() => undefined);
    }, 250).unref();
    await this.#ready(child);
  }

  /** `kill -9`: what it was doing is lost. Resolves when the process is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    await this.sample();
    this.#child = null;
    await end(child, 'SIGKILL');
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#sampler !== null) clearInterval(this.#sampler);
    const child = this.#child;
    if (child !== null) {
      await this.sample();
      this.#child = null;
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await end(child, 'SIGTERM');
      clearTimeout(timer);
    }
    this.#log?.end();
  }

  async sample(): Promise<void> {
    const pid = this.#child?.pid;
    if (pid !== undefined) this.#peak = Math.max(this.#peak, await peakMemory(pid));
  }

  #keep(line: string): void {
    this.#log?.write(`${line}\n`);
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
  }

  /** A process that ends by itself comes again, as an instance in the cloud would. */
  #exited(child: ChildProcess, code: number | null, signal: string | null): void {
    if (this.#child !== child || this.#stopping) return;
    this.#child = null;
    this.#keep(`the process of ${this.name} ended by itself: ${signal ?? `exit code ${code}`}`);
    if (this.#starts < 100) this.start().catch((error: unknown) => this.#keep(String(error)));
  }

  async #ready(child: ChildProcess): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await isListening(this.port))) {
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
        throw new Error(`the function ${this.name} does not start:\n${this.#lines.slice(-20).join('\n')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

/** The machine's own variables only: no settings of whoever started this may reach a function. */
function inherited(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'SYSTEMROOT'];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}
