import { readFileSync } from 'node:fs';
import path from 'node:path';
import { METHODS, OWN_JOB, ROLES } from './methods.ts';
import type { Plan, Resource } from './terraform.ts';

/** What every identity needs, from the calls that it was seen to make, and what the plan grants it. */

/** Calls of each function: `API.method place`. Recorded by test/identities, which holds this file to what it sees. */
export const RECORDED = path.resolve(import.meta.dirname, 'recorded-methods.json');

/** `account` is the name in accounts.tf, `pubsub` for Pub/Sub's own, else an IAM member; `on` is the place. */
export interface Need {
  readonly account: string;
  readonly method: string;
  readonly permission: string;
  readonly on: string;
}

export function recordedCalls(): Readonly<Record<string, readonly string[]>> {
  return JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, string[]>;
}

/** `bigquery.read table events` -> method and place. */
function needsOf(account: string, call: string): readonly Need[] {
  const [, method = '', on = ''] = /^(\S+) (.*)$/.exec(call) ?? [];
  const permissions = METHODS[method];
  if (permissions === undefined) throw new Error(`${account} calls ${method}: say in methods.ts what it needs`);
  return on === OWN_JOB ? [] : permissions.map((permission) => ({ account, method, permission, on }));
}

/** Calls that no code of ours makes: those of Google's services, of the build and of the daily comparison. */
const GOOGLES: Readonly<Record<string, readonly string[]>> = {
  push: ['finish', 'ingest', 'poll'].map((name) => `run.Invoke function ${name}`),
  scheduler: ['join', 'sweep'].map((name) => `run.Invoke function ${name}`),
  tasks: ['poll', 'submit'].map((name) => `run.Invoke function ${name}`),
  pubsub: [
    'pubsub.Publish topic dead-letters',
    ...['completions-finish', 'events-ingest', 'watches-poll'].map((name) => `pubsub.Acknowledge subscription ${name}`),
    'iamcredentials.GenerateIdToken account push',
    'bigquery.tables.get table dead_letters',
    'bigquery.write table dead_letters',
  ],
  build: [
    'storage.objects.get bucket',
    'storage.objects.get project',
    'artifactregistry.Upload repository',
    'logging.WriteLogEntries project',
  ],
  reconcile: ['bigquery.jobs.insert project', 'bigquery.read table events', 'bigquery.read table summaries'],
};

/** Everything optional that is granted to somebody, and the calls that it is for. */
export const OPTIONAL = {
  variables: {
    publishers: { shop: 'user:publisher@example.com' },
    submitters: { shop: 'user:submitter@example.com' },
    bigquery: { joins_may_read: ['demo-project.warehouse'] },
    polling: { job_projects: ['demo-project'], secrets: { ORDERS: { secret: 'orders' } } },
  },
  calls: {
    'user:publisher@example.com': ['pubsub.Publish topic events'],
    'user:submitter@example.com': ['run.Invoke function submit'],
    join: ['bigquery.read dataset demo-project.warehouse'],
    poll: ['secretmanager.AccessSecretVersion secret orders'],
  },
} as const;

export function allNeeds(): readonly Need[] {
  return [recordedCalls(), GOOGLES, OPTIONAL.calls].flatMap((calls) =>
    Object.entries(calls).flatMap(([account, list]) => list.flatMap((call) => needsOf(account, call))),
  );
}

export interface Grant {
  readonly address: string;
  readonly account: string;
  readonly permissions: readonly string[];
  readonly on: string;
}

const last = (value: unknown): string => String(value).split('/').at(-1)!;

/** What a grant is on, from the arguments of its kind of resource. */
const PLACES: Readonly<Record<string, (r: Resource) => string>> = {
  google_artifact_registry_repository_iam_member: () => 'repository',
  google_bigquery_dataset_iam_member: ({ after }) =>
    after['dataset_id'] === 'codaflow'
      ? 'dataset'
      : `dataset ${String(after['project'])}.${String(after['dataset_id'])}`,
  google_bigquery_table_iam_member: (r) => `table ${String(r.after['table_id'])}`,
  google_cloud_run_v2_service_iam_member: (r) => `function ${String(r.after['name']).replace('codaflow-', '')}`,
  google_cloud_tasks_queue_iam_member: (r) => `queue ${String(r.after['name']).replace('codaflow-', '')}`,
  google_project_iam_member: (r) => (r.after['role'] === 'roles/datastore.user' ? 'database' : 'project'),
  google_pubsub_subscription_iam_member: (r) => `subscription ${last(r.after['subscription'])}`,
  google_pubsub_topic_iam_member: (r) => `topic ${last(r.after['topic'])}`,
  google_secret_manager_secret_iam_member: (r) => `secret ${last(r.after['secret_id'])}`,
  google_service_account_iam_member: (r) =>
    `account ${/codaflow-(\w+)@/.exec(String(r.after['service_account_id']))?.[1]}`,
  google_storage_bucket_iam_member: () => 'bucket',
};

function ownRoles(plan: Plan): ReadonlyMap<string, readonly string[]> {
  const roles = plan.of('google_project_iam_custom_role');
  return new Map(roles.map((r) => [last(r.after['name']), r.after['permissions'] as string[]]));
}

export function grantsOf(plan: Plan): readonly Grant[] {
  const own = ownRoles(plan);
  return plan.resources
    .filter((r) => r.type.endsWith('_iam_member'))
    .map((r) => {
      const role = String(r.after['role']);
      const member = String(r.after['member']);
      return {
        address: r.address,
        account: member.includes('@gcp-sa-pubsub.') ? 'pubsub' : (/codaflow-(\w+)@/.exec(member)?.[1] ?? member),
        permissions: ROLES[role] ?? own.get(last(role)) ?? [],
        on: PLACES[r.type]!(r),
      };
    });
}

/** A grant on the dataset holds for its tables. */
function covers(grant: Grant, need: Need): boolean {
  return (
    grant.account === need.account &&
    grant.permissions.includes(need.permission) &&
    (grant.on === need.on || (grant.on === 'dataset' && need.on.startsWith('table ')))
  );
}

/** Calls that would be refused. */
export function missing(plan: Plan): readonly string[] {
  const grants = grantsOf(plan);
  const refused = allNeeds()
    .filter((need) => !grants.some((grant) => covers(grant, need)))
    .map((need) => `${need.account} calls ${need.method} on ${need.on} without ${need.permission}`);
  return [...new Set(refused)];
}

/** Grants without which no more calls would be refused, and permissions of our own roles that no holder needs. */
export function superfluous(plan: Plan): readonly string[] {
  const refused = missing(plan).length;
  const grants = grantsOf(plan);
  const needs = allNeeds();
  const used = (permission: string, role: string) =>
    grants.some(
      (grant) =>
        last(plan.resources.find((r) => r.address === grant.address)!.after['role']) === role &&
        needs.some((need) => need.permission === permission && covers(grant, need)),
    );
  return [
    ...grants.map(({ address }) => address).filter((address) => missing(plan.without(address)).length === refused),
    ...[...ownRoles(plan)].flatMap(([role, permissions]) =>
      permissions.filter((one) => !used(one, role)).map((one) => `${one} in ${role}`),
    ),
  ];
}
