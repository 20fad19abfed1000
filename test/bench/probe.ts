/** Preloaded into every measured process: answers its launcher with what the process has used so far. */
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Usage } from './subject.ts';

let collector: (() => void) | undefined;

/** The flag is set late: under other flags V8 does not take code that was compiled ahead. */
function collect(): void {
  if (collector === undefined) {
    setFlagsFromString('--expose-gc');
    collector = runInNewContext('gc') as () => void;
  }
  collector();
}

/** Bytes. `getrusage` would count what the launcher had when it made this process. */
function peak(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024;
}

process.on('message', (request: { readonly collect?: boolean }) => {
  const { user, system } = process.cpuUsage();
  if (request.collect === true) collect();
  const { rss, heapUsed } = process.memoryUsage();
  const usage: Usage = { cpuMicros: user + system, rss, heapUsed, peak: peak() };
  process.send?.(usage);
});
process.on('disconnect', () => process.exit(1));
process.channel?.unref();
