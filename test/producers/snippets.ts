import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(path.join(ROOT, 'docs/producers.md'), 'utf8');

/** Blocks of the page in one language, by the file name in their first line; others under their position. */
export function snippets(language: string): ReadonlyMap<string, string> {
  const blocks = [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text!);
  return new Map(blocks.map((text, i) => [/^(?:#|\/\/) (\S+)\n/.exec(text)?.[1] ?? `block ${i + 1}`, text]));
}

/** The blocks as files, in a folder from which the packages of the project are found. */
export function asFiles(language: string): { readonly folder: string; remove(): void } {
  const cache = path.join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(path.join(cache, 'codaflow-snippets-'));
  for (const [name, text] of snippets(language)) writeFileSync(path.join(folder, name), text);
  if (language === 'js') writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}
