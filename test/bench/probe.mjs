/**
 * Preloaded into every measured process: answers its launcher with what the process has used so far. JavaScript, so that
 * no start has to load what takes types away.
 */
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** @type {(() => void) | undefined} */
let collector;

/** The flag is set late: under other flags V8 does not take code that was compiled ahead. */
function collect() {
  if (collector === undefined) {
    setFlagsFromString('--expose-gc');
    collector = runInNewContext('gc');
  }
  collector();
}

/** Bytes. `getrusage` would count what the launcher had when it made this process. */
function peak() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
}

process.on('message', (request) => {
  const { user, system } = process.cpuUsage();
  if (request.collect === true) collect();
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({ cpuMicros: user + system, rss, heapUsed, peak: peak() });
});
process.on('disconnect', () => process.exit(1));
process.channel?.unref();
