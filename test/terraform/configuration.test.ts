import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { withoutTerraform, Workspace } from './terraform.ts';

/** The configuration itself: formatted, valid, tested, nothing declared in vain. */

const MODULES = ['terraform', 'terraform/kafka'] as const;

for (const module of MODULES) {
  test(`${module}`, { skip: withoutTerraform }, async (t) => {
    let workspace: Workspace;
    before(async () => {
      workspace = await new Workspace(module).open();
    });
    after(() => workspace.close());

    await t.test('is formatted', async () => {
      const { code, out } = await workspace.run('fmt', '-check', '-diff', '-no-color');
      assert.equal(code, 0, out);
    });
    await t.test('is valid by the schema of the provider', async () => {
      assert.deepEqual(await workspace.validate(), []);
    });
    await t.test('passes its own tests', async () => {
      const { code, out, err } = await workspace.run('test', '-no-color');
      assert.equal(code, 0, out + err);
      assert.match(out, /[1-9]\d* passed, 0 failed/);
    });
  });
}

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

for (const module of MODULES) {
  test(`${module} declares nothing that it does not use`, () => {
    assert.deepEqual(unused(path.resolve(import.meta.dirname, '../..', module)), []);
  });
}
