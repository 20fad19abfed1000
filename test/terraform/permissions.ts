import { entryPoint, portsOf, topicsOf } from './source-graph.ts';
import type { Plan, Resource } from './terraform.ts';

/**
 * What every identity needs, from the calls that the code makes, and what the plan grants it.
 *
 * Methods and their permissions are those of Google's reference: "Access control" of Pub/Sub, BigQuery (also the Storage
 * Write API), Firestore ("Required permissions for API methods"), Cloud Tasks, Cloud Run and IAM.
 */

/** `account` is the name in accounts.tf, or `pubsub` for Pub/Sub's own; `on` is what the permission is needed on. */
export interface Need {
  readonly account: string;
  readonly method: string;
  readonly permission: string;
  readonly on: string;
}

/** Method -> permissions, for the methods that are called. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  'firestore.BatchGetDocuments': ['datastore.entities.get'],
  'firestore.BeginTransaction': ['datastore.databases.get'],
  'firestore.Commit': ['datastore.entities.create', 'datastore.entities.update', 'datastore.entities.delete'],
  'firestore.Rollback': ['datastore.databases.get'],
  'firestore.RunQuery': ['datastore.entities.get', 'datastore.entities.list'],
  'pubsub.Publish': ['pubsub.topics.publish'],
  'pubsub.Acknowledge': ['pubsub.subscriptions.consume'],
  'bigquerystorage.AppendRows': ['bigquery.tables.updateData'],
  'bigquerystorage.GetWriteStream': ['bigquery.tables.get'],
  'bigquery.tables.get': ['bigquery.tables.get'],
  'bigquery.jobs.insert': ['bigquery.jobs.create'],
  'bigquery.SELECT': ['bigquery.tables.getData'],
  'bigquery.MERGE': ['bigquery.tables.updateData'],
  'tasks.CreateTask': ['cloudtasks.tasks.create'],
  'run.Invoke': ['run.routes.invoke'],
  'iamcredentials.GenerateIdToken': ['iam.serviceAccounts.getOpenIdToken'],
  'storage.objects.get': ['storage.objects.get'],
  'artifactregistry.Upload': ['artifactregistry.repositories.uploadArtifacts'],
  'logging.WriteLogEntries': ['logging.logEntries.create'],
};

/** Role -> those of its permissions that are used here. */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  'roles/artifactregistry.writer': ['artifactregistry.repositories.uploadArtifacts'],
  'roles/bigquery.dataEditor': ['bigquery.tables.get', 'bigquery.tables.getData', 'bigquery.tables.updateData'],
  'roles/bigquery.dataViewer': ['bigquery.tables.get', 'bigquery.tables.getData'],
  'roles/bigquery.jobUser': ['bigquery.jobs.create'],
  'roles/cloudtasks.enqueuer': ['cloudtasks.tasks.create'],
  'roles/datastore.user': [
    'datastore.databases.get',
    'datastore.entities.create',
    'datastore.entities.delete',
    'datastore.entities.get',
    'datastore.entities.list',
    'datastore.entities.update',
  ],
  'roles/iam.serviceAccountOpenIdTokenCreator': ['iam.serviceAccounts.getOpenIdToken'],
  'roles/logging.logWriter': ['logging.logEntries.create'],
  'roles/pubsub.publisher': ['pubsub.topics.publish'],
  'roles/pubsub.subscriber': ['pubsub.subscriptions.consume'],
  'roles/run.invoker': ['run.routes.invoke'],
  'roles/storage.objectViewer': ['storage.objects.get'],
};

function needs(account: string, on: string, ...methods: readonly string[]): readonly Need[] {
  return methods.flatMap((method) => METHODS[method]!.map((permission) => ({ account, method, permission, on })));
}

const TOPICS: Readonly<Record<string, string>> = {
  completions: 'completions',
  deadLetters: 'dead-letters',
  events: 'events',
  join: 'results',
  summaries: 'summaries',
};

/** What a port's adapter calls. */
const PORTS: Readonly<Record<string, (account: string) => readonly Need[]>> = {
  clock: () => [],
  ids: () => [],
  bus: () => [], // by topic, below
  store: (account) =>
    needs(account, 'database', 'firestore.BatchGetDocuments', 'firestore.BeginTransaction', 'firestore.Commit', 'firestore.Rollback'), // prettier-ignore
  events: (account) => needs(account, 'table events', 'bigquerystorage.AppendRows', 'bigquerystorage.GetWriteStream'),
  summaries: (account) =>
    needs(account, 'table summaries', 'bigquerystorage.AppendRows', 'bigquerystorage.GetWriteStream'),
  warehouse: (account) => [
    ...needs(account, 'project', 'bigquery.jobs.insert'),
    ...needs(account, 'dataset', 'bigquery.tables.get', 'bigquery.SELECT'),
    ...needs(account, 'table joined', 'bigquery.MERGE'),
  ],
  tasks: (account) => needs(account, 'queue poll', 'tasks.CreateTask'),
  probes: () => [], // what a watch may look at is its owner's to grant: docs/polling.md
};

export function functionNeeds(name: string): readonly Need[] {
  const source = entryPoint(name);
  if (source === null) throw new Error(`functions/${name}.ts is missing`);
  const ports = portsOf(name);
  const topics = topicsOf(source);
  return [
    ...ports.flatMap((port) => PORTS[port]!(name)),
    ...[...topics].flatMap((role) => needs(name, `topic ${TOPICS[role]}`, 'pubsub.Publish')),
    ...(source.includes('store.due(') ? needs(name, 'database', 'firestore.RunQuery') : []),
  ];
}

export const FUNCTION_NAMES = ['finish', 'ingest', 'join', 'poll', 'submit', 'sweep'] as const;

/** Needs of the callers, of Pub/Sub itself, of the build and of the daily comparison. */
const OTHERS: readonly Need[] = [
  ...['ingest', 'finish', 'poll'].flatMap((f) => needs('push', `function ${f}`, 'run.Invoke')),
  ...['join', 'sweep'].flatMap((f) => needs('scheduler', `function ${f}`, 'run.Invoke')),
  ...['poll', 'submit'].flatMap((f) => needs('tasks', `function ${f}`, 'run.Invoke')),
  ...needs('pubsub', 'topic dead-letters', 'pubsub.Publish'),
  ...['events-ingest', 'completions-finish', 'watches-poll'].flatMap((s) =>
    needs('pubsub', `subscription ${s}`, 'pubsub.Acknowledge'),
  ),
  ...needs('pubsub', 'account push', 'iamcredentials.GenerateIdToken'),
  ...needs('pubsub', 'table dead_letters', 'bigquery.tables.get', 'bigquery.SELECT', 'bigquery.MERGE'),
  ...needs('build', 'bucket', 'storage.objects.get'),
  ...needs('build', 'project', 'storage.objects.get', 'logging.WriteLogEntries'),
  ...needs('build', 'repository', 'artifactregistry.Upload'),
  ...needs('reconcile', 'project', 'bigquery.jobs.insert'),
  ...needs('reconcile', 'dataset', 'bigquery.SELECT'),
];

export function allNeeds(): readonly Need[] {
  return [...FUNCTION_NAMES.flatMap(functionNeeds), ...OTHERS];
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
  google_bigquery_dataset_iam_member: () => 'dataset',
  google_bigquery_table_iam_member: (r) => `table ${String(r.after['table_id'])}`,
  google_cloud_run_v2_service_iam_member: (r) => `function ${String(r.after['name']).replace('codaflow-', '')}`,
  google_cloud_tasks_queue_iam_member: (r) => `queue ${String(r.after['name']).replace('codaflow-', '')}`,
  google_project_iam_member: (r) => (r.after['role'] === 'roles/datastore.user' ? 'database' : 'project'),
  google_pubsub_subscription_iam_member: (r) => `subscription ${last(r.after['subscription'])}`,
  google_pubsub_topic_iam_member: (r) => `topic ${last(r.after['topic'])}`,
  google_service_account_iam_member: (r) =>
    `account ${/codaflow-(\w+)@/.exec(String(r.after['service_account_id']))?.[1]}`,
  google_storage_bucket_iam_member: () => 'bucket',
};

export function grantsOf(plan: Plan): readonly Grant[] {
  const custom = new Map(
    plan.of('google_project_iam_custom_role').map((r) => [last(r.after['name']), r.after['permissions'] as string[]]),
  );
  return plan.resources
    .filter((r) => r.type.endsWith('_iam_member'))
    .map((r) => {
      const role = String(r.after['role']);
      const member = String(r.after['member']);
      return {
        address: r.address,
        account: member.includes('@gcp-sa-pubsub.') ? 'pubsub' : (/codaflow-(\w+)@/.exec(member)?.[1] ?? member),
        permissions: ROLES[role] ?? custom.get(last(role)) ?? [],
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
  return allNeeds()
    .filter((need) => !grants.some((grant) => covers(grant, need)))
    .map((need) => `${need.account} calls ${need.method} on ${need.on} without ${need.permission}`);
}

/** Grants that no call uses. */
export function superfluous(plan: Plan): readonly string[] {
  const all = allNeeds();
  return grantsOf(plan)
    .filter((grant) => !all.some((need) => need.on === grant.on && covers(grant, need)))
    .map((grant) => grant.address);
}
