import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** A folder that is gone after the tests of the file. */
export function scratch(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'codaflow-test-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The first flights of the sample, whole keys only, as a file; returns its path. */
export function fewFlights(folder: string, events: number): string {
  const text = gunzipSync(readFileSync(path.join(ROOT, 'local/sample/flights.ndjson.gz'))).toString('utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  const keyOf = (line: string): string => (JSON.parse(line) as { unique_key: string }).unique_key;
  const keys = new Set(lines.slice(0, events / 4).map(keyOf));
  const file = path.join(folder, 'flights.ndjson');
  writeFileSync(file, lines.filter((line) => keys.has(keyOf(line))).join('\n'));
  return file;
}

/** `npm start` as a child process: all it printed, and how it ended. */
export class Launcher {
  readonly child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #waiting: { pattern: RegExp; resolve: (line: string) => void }[] = [];
  stdout = '';

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [path.join(ROOT, 'local/start.ts'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    const { stdout, stderr } = this.child;
    stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    for (const stream of [stdout!, stderr!]) createInterface({ input: stream }).on('line', (line) => this.#take(line));
    after(() => this.child.kill('SIGKILL'));
  }

  get output(): string {
    return this.#lines.join('\n');
  }

  /** The first line that matches, already printed or still to come; rejects when the process ends before. */
  async line(pattern: RegExp): Promise<string> {
    const known = this.#lines.find((line) => pattern.test(line));
    if (known !== undefined) return known;
    return Promise.race([
      new Promise<string>((resolve) => this.#waiting.push({ pattern, resolve })),
      this.exit().then((code) => {
        throw new Error(`ended with ${code} before ${pattern}:\n${this.output}`);
      }),
    ]);
  }

  async exit(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close');
    return this.child.exitCode;
  }

  #take(line: string): void {
    this.#lines.push(line);
    for (const { pattern, resolve } of this.#waiting) if (pattern.test(line)) resolve(line);
  }
}
