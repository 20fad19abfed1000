import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { withoutTerraform, Workspace } from './terraform.ts';
import { unused } from './unused.ts';

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

for (const module of MODULES) {
  test(`${module} declares nothing that it does not use`, () => {
    assert.deepEqual(unused(path.resolve(import.meta.dirname, '../..', module)), []);
  });
}

test('terraform/README.md has every file and every variable, as described', () => {
  const directory = path.resolve(import.meta.dirname, '../../terraform');
  const readme = readFileSync(path.join(directory, 'README.md'), 'utf8');
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.tf') && name !== 'versions.tf')) {
    assert.ok(readme.includes(`\`${file}\``), file);
  }
  const variables = readFileSync(path.join(directory, 'variables.tf'), 'utf8');
  const declared = [...variables.matchAll(/^variable "(\w+)" \{\n {2}description = "((?:[^"\\]|\\.)*)"/gm)];
  const rows = declared.map(([, name, description]) => `${name} ${description!.replaceAll('\\"', '"')}`);
  const described = [...readme.matchAll(/^\| `(\w+)`(?: \(required\))? \| (.*) \|$/gm)]
    .map(([, name, description]) => `${name} ${description}`)
    .filter((row) => declared.some(([, name]) => row.startsWith(`${name} `)));
  assert.deepEqual(described, rows);
});
