import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Variables, locals and data sources of a module that nothing refers to. */
export function unused(directory: string): readonly string[] {
  const text = readdirSync(directory)
    .filter((file) => file.endsWith('.tf'))
    .map((file) => readFileSync(path.join(directory, file), 'utf8'))
    .join('\n');
  const declared = [
    ...[...text.matchAll(/^variable "(\w+)"/gm)].map(([, name]) => `var.${name}`),
    ...[...text.matchAll(/^data "(\w+)" "(\w+)"/gm)].map(([, type, name]) => `data.${type}.${name}`),
    ...[...text.matchAll(/^locals \{\n([\s\S]*?)^\}/gm)].flatMap(([, body]) =>
      [...body!.matchAll(/^ {2}(\w+)\s*=/gm)].map(([, name]) => `local.${name}`),
    ),
  ];
  // A variable's own block, with its validations, is no use of it.
  const used = text.replace(/^variable "(\w+)" \{\n[\s\S]*?^\}/gm, (block, name: string) =>
    block.replaceAll(`var.${name}`, ''),
  );
  return declared.filter((name) => !new RegExp(`(?<![\\w.])${name.replaceAll('.', '\\.')}\\b`).test(used));
}
