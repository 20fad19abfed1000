import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { withoutTerraform, Workspace } from './terraform.ts';

/** The pipeline: its form by the reference of Cloud Build, and its scripts by running them. */

const ROOT = path.resolve(import.meta.dirname, '../..');

interface Step {
  readonly id: string;
  readonly name: string;
  readonly script?: string;
  readonly entrypoint?: string;
  readonly args?: readonly string[];
}
interface Build {
  readonly steps: readonly Step[];
  readonly substitutions: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly timeout: string;
}

const build = parse(readFileSync(path.join(ROOT, 'cloudbuild.yaml'), 'utf8')) as Build;
const scripts = (
  JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
).scripts;

const MEMBERS = ['steps', 'substitutions', 'serviceAccount', 'options', 'timeout'];
const STEP_MEMBERS = ['id', 'name', 'script', 'entrypoint', 'args', 'env', 'waitFor', 'dir'];
const OPTIONS = ['logging', 'automapSubstitutions', 'machineType', 'env'];

test('cloudbuild.yaml has only members that Cloud Build knows', () => {
  assert.deepEqual(Object.keys(build).filter((name) => !MEMBERS.includes(name)), []); // prettier-ignore
  assert.deepEqual(Object.keys(build.options).filter((name) => !OPTIONS.includes(name)), []); // prettier-ignore
  for (const step of build.steps) {
    assert.deepEqual(Object.keys(step).filter((name) => !STEP_MEMBERS.includes(name)), [], step.id); // prettier-ignore
    // Either a script, or an entry point with arguments.
    assert.equal(step.script === undefined, step.args !== undefined, step.id);
  }
  for (const name of Object.keys(build.substitutions)) assert.match(name, /^_[A-Z0-9_]+$/);
  assert.match(build.timeout, /^\d+s$/);
});

test('it acts as its own account and logs, as such an account must', () => {
  assert.match(build.serviceAccount, /codaflow-deploy@/);
  assert.equal(build.options['logging'], 'CLOUD_LOGGING_ONLY');
});

test('nothing is applied before it is checked, tested, built and planned', () => {
  assert.deepEqual(
    build.steps.map((step) => step.id),
    ['terraform', 'install', 'lint', 'build', 'test', 'plan', 'apply'],
  );
  assert.equal(build.substitutions['_APPLY'], 'false');
});

test('its scripts are the scripts of this repository', () => {
  for (const step of build.steps.filter((s) => s.script !== undefined && s.id !== 'install')) {
    const [, name] = /npm run (\S+)/.exec(step.script!) ?? [];
    assert.ok(name !== undefined && scripts[name] !== undefined, step.id);
  }
});

test('shell scripts are shell', () => {
  for (const { id, script } of build.steps.filter((s) => s.script?.startsWith('#!') === true)) {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' });
    assert.equal(status, 0, `${id}: ${stderr}`);
  }
});

describe('npm run plan, npm run apply', { skip: withoutTerraform }, () => {
  test('apply what was planned, and then there is nothing left to do', async (t) => {
    const workspace = await new Workspace().open();
    t.after(() => workspace.close());
    workspace.variables();
    for (const script of ['plan', 'apply']) {
      const { code, out, err } = await workspace.npm(script);
      assert.equal(code, 0, out + err);
    }
    const again = await workspace.run('plan', '-input=false', '-detailed-exitcode', '-no-color');
    assert.equal(again.code, 0, again.out + again.err);
  });
});
