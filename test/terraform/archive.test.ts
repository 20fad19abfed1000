import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { NODE_SETTINGS } from '../../local/functions.ts';
import { FUNCTIONS } from './source-graph.ts';
import { withoutTerraform, Workspace } from './terraform.ts';
import { unzip } from './zip.ts';

/** The very archive that is deployed: installed and started as the platform does it, with the planned environment. */

const ENTRY_POINTS = [...readFileSync(path.join(FUNCTIONS, 'index.ts'), 'utf8').matchAll(/register\('(\w+)'/g)].map(
  ([, name]) => name!,
);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('the deployed archive', { skip: withoutTerraform }, () => {
  const root = path.resolve(import.meta.dirname, '../..');
  const directory = mkdtempSync(path.join(tmpdir(), 'codaflow-archive-'));
  let files: readonly string[];
  let environment: Readonly<Record<string, string>>;

  before(async () => {
    if (!existsSync(path.join(root, 'dist/index.js'))) {
      assert.equal(spawnSync('npm', ['run', '-s', 'build'], { cwd: root, stdio: 'inherit' }).status, 0);
    }
    const workspace = await new Workspace('terraform', path.join(root, 'dist')).open();
    try {
      const plan = await workspace.plan();
      const [f] = plan.of('google_cloudfunctions2_function');
      const [service] = f!.after['service_config'] as [{ environment_variables: Record<string, string> }];
      environment = service.environment_variables;
      files = unzip(readFileSync(path.join(workspace.module, '.terraform/source.zip')), directory);
    } finally {
      workspace.close();
    }
    const installed = spawnSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
      cwd: directory,
      env: { ...process.env, NODE_ENV: 'production' },
      encoding: 'utf8',
    });
    assert.equal(installed.status, 0, installed.stderr);
    // The platform does so, too, when the manifest has this script.
    const compiled = spawnSync('npm', ['run', '-s', 'gcp-build'], { cwd: directory, encoding: 'utf8' });
    assert.equal(compiled.status, 0, compiled.stderr);
    assert.doesNotMatch(compiled.stderr, /without compiled code/);
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  test('has the bundle with its source maps, the joins, and nothing to develop with', () => {
    for (const file of ['dist/index.js', 'dist/index.js.map', 'package.json', 'package-lock.json']) {
      assert.ok(files.includes(file), file);
    }
    assert.ok(files.some((file) => /^joins\/\w+\/query\.sql$/.test(file)));
    const manifest = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as Record<string, unknown>;
    assert.equal(manifest['devDependencies'], undefined);
    assert.deepEqual(Object.keys(manifest['dependencies'] as object), ['@google-cloud/functions-framework']);
    assert.ok(existsSync(path.join(directory, String(manifest['main']))));
    assert.ok(!existsSync(path.join(directory, 'node_modules/typescript')));
  });

  test('runs Node as the local cloud does', () => {
    const { NODE_OPTIONS, NODE_COMPILE_CACHE } = environment;
    assert.deepEqual({ NODE_OPTIONS, NODE_COMPILE_CACHE }, NODE_SETTINGS);
  });

  test('is compiled ahead, the clients that are loaded late included', () => {
    const folder = path.join(directory, NODE_SETTINGS.NODE_COMPILE_CACHE);
    const bytes = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((file) => statSync(path.join(folder, file)))
      .reduce((sum, file) => sum + file.size, 0);
    assert.ok(bytes > 6e5, `${bytes} bytes`);
  });

  test('is made of one copy of what the clients share', () => {
    const { packages } = JSON.parse(readFileSync(path.join(directory, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version?: string }>;
    };
    for (const name of ['google-gax', 'google-auth-library', '@grpc/grpc-js', 'protobufjs']) {
      const versions = Object.entries(packages)
        .filter(([place]) => place.endsWith(`node_modules/${name}`))
        .map(([, { version }]) => version);
      assert.equal(versions.length, 1, `${name} ${versions.join(', ')}: see overrides in package.json`);
    }
  });

  for (const name of ENTRY_POINTS) {
    test(`${name} starts and answers`, async () => {
      const port = await freePort();
      const child = spawn(process.execPath, ['node_modules/@google-cloud/functions-framework/build/src/main.js'], {
        cwd: directory,
        env: {
          ...environment,
          FUNCTION_TARGET: name,
          PORT: String(port),
          PATH: process.env['PATH'],
          METADATA_SERVER_DETECTION: 'none',
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        const lines: string[] = [];
        for await (const line of createInterface({ input: child.stdout })) {
          lines.push(line);
          if (line.startsWith('URL:')) break;
        }
        assert.ok(
          lines.some((line) => line.includes('"event":"start"')),
          lines.join('\n'),
        );
        if (name === 'ingest' || name === 'finish') {
          const response = await fetch(`http://127.0.0.1:${port}/`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: '{}',
          });
          assert.equal(response.status, 400, await response.text());
        }
      } finally {
        child.kill('SIGKILL');
      }
    });
  }
});
