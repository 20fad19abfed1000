import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadSchemas } from './provider/schema.ts';
import { serveProvider } from './provider/server.ts';

/**
 * Runs the real `terraform` against a stand-in provider, by the variable that provider developers attach theirs with.
 * Nothing is installed and nothing is reached.
 */

const ROOT = path.resolve(import.meta.dirname, '../..');
const PROVIDERS = ['hashicorp/google', 'hashicorp/archive'] as const;

/** Region of the plans. */
export const REGION = 'europe-west1';

export const TERRAFORM = process.env['TERRAFORM'] ?? 'terraform';
const found = spawnSync(TERRAFORM, ['version'], { stdio: 'ignore' }).status === 0;

/**
 * For the `skip` of a test: false where a terraform binary is present. Without one the suite says so loudly; under CI it
 * does not skip, and fails.
 */
export const withoutTerraform: string | false =
  found || process.env['CI'] !== undefined
    ? false
    : 'NOT CHECKED: no terraform binary here (set TERRAFORM to its path)';
if (withoutTerraform !== false) console.error(`\n*** terraform/ is ${withoutTerraform} ***\n`);

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A copy of what Terraform reads, so that the repository stays clean and mistakes can be planted. */
export class Workspace {
  /** The copied repository. */
  readonly root = mkdtempSync(path.join(tmpdir(), 'codaflow-terraform-'));
  readonly module: string;
  #environment: Record<string, string> = {};
  #closing: (() => void)[] = [];

  /** @param dist the bundle to deploy; by default something small stands for it */
  constructor(module = 'terraform', dist?: string) {
    this.module = path.join(this.root, module);
    const clean = (file: string) => !/\/\.terraform(\/|$)|\.tfstate|\.terraform\.lock/.test(file);
    for (const entry of ['terraform', 'joins', 'package.json', 'package-lock.json']) {
      cpSync(path.join(ROOT, entry), path.join(this.root, entry), { recursive: true, filter: clean });
    }
    if (dist !== undefined) cpSync(dist, path.join(this.root, 'dist'), { recursive: true });
    else {
      mkdirSync(path.join(this.root, 'dist'));
      writeFileSync(path.join(this.root, 'dist/index.js'), '// stands for the bundle\n');
    }
  }

  /** Files of the pages for alarms. */
  static pages(): readonly string[] {
    return readdirSync(path.join(ROOT, 'docs/operations'));
  }

  /** Starts the stand-ins and runs `terraform init`. */
  async open(): Promise<this> {
    try {
      await this.#open();
    } catch (error) {
      this.close();
      throw error;
    }
    return this;
  }

  async #open(): Promise<void> {
    const schemas = loadSchemas();
    const attached: Record<string, object> = {};
    for (const address of PROVIDERS) {
      const running = await serveProvider(schemas[address]!, () => this.module);
      this.#closing.push(() => running.close());
      attached[address] = {
        Protocol: 'grpc',
        ProtocolVersion: 5,
        Pid: process.pid,
        Test: true,
        Addr: { Network: 'tcp', String: `127.0.0.1:${running.port}` },
      };
    }
    this.#environment = { TF_REATTACH_PROVIDERS: JSON.stringify(attached) };
    const init = await this.run('init', '-input=false', '-backend=false', '-no-color');
    if (init.code !== 0) throw new Error(init.out + init.err);
  }

  async run(...args: readonly string[]): Promise<Outcome> {
    return this.#spawn(TERRAFORM, args, this.module);
  }

  /** Runs a script of package.json in the copy. */
  async npm(script: string): Promise<Outcome> {
    return this.#spawn('npm', ['run', '-s', script], this.root);
  }

  async #spawn(command: string, args: readonly string[], cwd: string): Promise<Outcome> {
    const environment: NodeJS.ProcessEnv = {
      ...process.env,
      ...this.#environment,
      TF_IN_AUTOMATION: '1',
      CHECKPOINT_DISABLE: '1',
    };
    delete environment['TF_CLI_CONFIG_FILE'];
    const child = spawn(command, args, {
      cwd,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    return { code, out, err };
  }

  /** Errors of `terraform validate`, a line each. */
  async validate(): Promise<readonly string[]> {
    const { out } = await this.run('validate', '-json');
    const { diagnostics } = JSON.parse(out) as { diagnostics: readonly Problem[] };
    return diagnostics.map((d) => `${d.range?.filename}:${d.range?.start.line}: ${d.summary} ${d.detail}`);
  }

  /** Sets the variables of the runs that follow. */
  variables(variables: Readonly<Record<string, unknown>> = {}): void {
    writeFileSync(
      path.join(this.module, 'test.auto.tfvars.json'),
      JSON.stringify({ project_id: 'demo-project', region: REGION, ...variables }),
    );
  }

  /** The plan of an empty project, as data. */
  async plan(variables: Readonly<Record<string, unknown>> = {}): Promise<Plan> {
    this.variables(variables);
    const planned = await this.run('plan', '-input=false', '-no-color', '-out=plan.bin');
    if (planned.code !== 0) throw new Error(planned.out + planned.err);
    const shown = await this.run('show', '-json', 'plan.bin');
    return Plan.parse(shown.out);
  }

  close(): void {
    for (const close of this.#closing) close();
    rmSync(this.root, { recursive: true, force: true });
  }
}

interface Problem {
  readonly summary: string;
  readonly detail: string;
  readonly range?: { readonly filename: string; readonly start: { readonly line: number } };
}

interface PlanJson {
  readonly resource_changes: readonly {
    readonly address: string;
    readonly mode: 'managed' | 'data';
    readonly type: string;
    readonly name: string;
    readonly index?: string | number;
    readonly change: { readonly after: Record<string, unknown> };
  }[];
}

export interface Resource {
  readonly address: string;
  readonly type: string;
  readonly name: string;
  readonly key: string;
  /** Attributes that are known before apply. */
  readonly after: Readonly<Record<string, unknown>>;
}

export class Plan {
  readonly resources: readonly Resource[];
  constructor(resources: readonly Resource[]) {
    this.resources = resources;
  }

  static parse(json: string): Plan {
    const { resource_changes } = JSON.parse(json) as PlanJson;
    const managed = resource_changes.filter((change) => change.mode === 'managed');
    return new Plan(
      managed.map(({ address, type, name, index, change }) => ({
        address,
        type,
        name,
        key: String(index ?? ''),
        after: change.after,
      })),
    );
  }

  of(type: string, name?: string): readonly Resource[] {
    return this.resources.filter((r) => r.type === type && (name === undefined || r.name === name));
  }

  without(address: string): Plan {
    return new Plan(this.resources.filter((r) => r.address !== address));
  }
}
