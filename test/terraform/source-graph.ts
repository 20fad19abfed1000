import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Reads the functions' own source, so that tests hold the deployment to what the code does. */

export const FUNCTIONS = path.resolve(import.meta.dirname, '../../functions');
export const FUNCTION_NAMES = ['finish', 'ingest', 'join', 'poll', 'submit', 'sweep'] as const;

/** Text of every source file under functions/, without tests. */
export function sources(): ReadonlyMap<string, string> {
  const files = readdirSync(FUNCTIONS, { recursive: true, withFileTypes: true })
    .filter((f) => f.isFile() && f.name.endsWith('.ts') && !f.name.endsWith('.test.ts'))
    .map((f) => path.join(f.parentPath, f.name));
  return new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
}

/** Text of an entry point and of all that it imports; null while it is not written. */
export function entryPoint(name: string): string | null {
  const start = path.join(FUNCTIONS, `${name}.ts`);
  if (!existsSync(start)) return null;
  const seen = new Map<string, string>();
  const queue = [start];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue;
    const text = readFileSync(file, 'utf8');
    seen.set(file, text);
    for (const [, from] of text.matchAll(/^(?:import|export) (?!type )[^;]*? from '(\.[^']+)'/gms)) {
      queue.push(path.resolve(path.dirname(file), from!));
    }
  }
  return [...seen.values()].join('\n');
}

/** Topics that a source publishes to, by their role; `join` is the topic that a join names. */
export function topicsOf(source: string): readonly string[] {
  const found = [...source.matchAll(/\.publish\(\s*(?:'(\w+)'|\{ name: join\.topic \})/g)];
  return [...new Set(found.map(([, role]) => role ?? 'join'))].sort();
}

/** Collections that the sweep searches. */
export function wokenCollections(): readonly string[] {
  const constants = new Map<string, string>();
  const named: string[] = [];
  for (const text of sources().values()) {
    for (const [, name, value] of text.matchAll(/export const ([A-Z_]+) = '(\w+)'/g)) constants.set(name!, value!);
    for (const [, name] of text.matchAll(/collection: ([A-Z_]+),/g)) named.push(name!);
  }
  return named.map((name) => constants.get(name) ?? name);
}
