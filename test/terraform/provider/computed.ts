import type { Type } from './schema.ts';
import { isObject, isUnknown, type Path, type Value, type ValueObject } from './values.ts';

/** Values that Google or the provider would make up: ids, addresses, URLs. */

const IDS: Readonly<Record<string, string>> = {
  google_artifact_registry_repository: 'projects/{project}/locations/{location}/repositories/{repository_id}',
  google_bigquery_dataset: 'projects/{project}/datasets/{dataset_id}',
  google_bigquery_table: 'projects/{project}/datasets/{dataset_id}/tables/{table_id}',
  google_cloud_scheduler_job: 'projects/{project}/locations/{region}/jobs/{name}',
  google_cloud_tasks_queue: 'projects/{project}/locations/{location}/queues/{name}',
  google_cloudfunctions2_function: 'projects/{project}/locations/{location}/functions/{name}',
  google_firestore_database: 'projects/{project}/databases/{name}',
  google_managed_kafka_cluster: 'projects/{project}/locations/{location}/clusters/{cluster_id}',
  google_project_iam_custom_role: 'projects/{project}/roles/{role_id}',
  google_pubsub_schema: 'projects/{project}/schemas/{name}',
  google_pubsub_subscription: 'projects/{project}/subscriptions/{name}',
  google_pubsub_topic: 'projects/{project}/topics/{name}',
  google_service_account: 'projects/{project}/serviceAccounts/{account_id}@{project}.iam.gserviceaccount.com',
  google_storage_bucket: '{name}',
};

/** Resources whose `name` is computed and says the same as the id. */
const NAMED_BY_ID = new Set(['google_project_iam_custom_role', 'google_service_account']);

export const PROJECT_NUMBER = '123456789012';

function text(value: Value | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function fill(template: string, self: ValueObject, provider: ValueObject): string {
  return template.replace(
    /\{(\w+)\}/g,
    (_, name: string) => text(self[name]) ?? text(provider[name]) ?? `some-${name}`,
  );
}

/** What the provider knows before it applies: its defaults and the names that follow from names. */
export function atPlan(type: string, config: ValueObject, provider: ValueObject): Readonly<Record<string, Value>> {
  const known: Record<string, Value> = {};
  for (const name of ['project', 'region', 'zone']) if (text(provider[name]) !== null) known[name] = provider[name]!;
  const labels = { ...(provider['default_labels'] as ValueObject | null), ...(config['labels'] as ValueObject | null) };
  if (!Object.values(labels).some(isUnknown)) {
    known['terraform_labels'] = labels;
    known['effective_labels'] = { ...labels, 'goog-terraform-provisioned': 'true' };
  }
  const self = { ...known, ...withoutNulls(config) };
  if (type === 'google_service_account' && text(self['account_id']) !== null) {
    known['email'] = fill('{account_id}@{project}.iam.gserviceaccount.com', self, provider);
    known['member'] = `serviceAccount:${known['email']}`;
  }
  if (NAMED_BY_ID.has(type)) known['name'] = fill(IDS[type]!, self, provider);
  const id = IDS[type];
  if (id !== undefined && [...id.matchAll(/\{(\w+)\}/g)].every(([, name]) => text(self[name!]) !== null)) {
    known['id'] = fill(id, self, provider);
  }
  return known;
}

function withoutNulls(config: ValueObject): ValueObject {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
}

/** What becomes of an unknown value when the resource is made. */
export function atApply(type: string, at: Path, of: Type, self: ValueObject, provider: ValueObject): Value {
  const name = String(at.at(-1));
  if (Array.isArray(of)) {
    const [kind, inner] = of as readonly [string, Type];
    if (kind === 'map') return {};
    if (kind === 'object')
      return objectOf(type, at, inner as unknown as Readonly<Record<string, Type>>, self, provider);
    return Array.isArray(inner) && inner[0] === 'object' ? [atApply(type, at, inner, self, provider)] : [];
  }
  if (of === 'bool') return false;
  if (of === 'number') return 0;
  if (at.length === 1 && name === 'id' && IDS[type] !== undefined) return fill(IDS[type], self, provider);
  const own = text(self['name']) ?? type;
  if (/uri|url|self_link/.test(name)) return `https://${own.replace(/[^a-z0-9-]/g, '-')}.example.invalid`;
  if (name === 'id') return `${type}/${own}`;
  return `some-${name}`;
}

function objectOf(
  type: string,
  at: Path,
  fields: Readonly<Record<string, Type>>,
  self: ValueObject,
  provider: ValueObject,
): Value {
  return Object.fromEntries(
    Object.entries(fields).map(([name, of]) => [name, atApply(type, [...at, name], of, self, provider)]),
  );
}

/** What a data source answers, besides its own arguments. */
export function dataOf(type: string, config: Value, provider: ValueObject): Readonly<Record<string, Value>> {
  const own = isObject(config) ? config : {};
  const project = text(own['project_id']) ?? text(own['project']) ?? text(provider['project']) ?? 'some-project';
  if (type === 'google_project') {
    return { id: `projects/${project}`, project_id: project, number: PROJECT_NUMBER, name: project };
  }
  return { project };
}
