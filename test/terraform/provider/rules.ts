import { isUnknown, type Value, type ValueObject } from './values.ts';

/** Checks that the provider makes in its code, so that no schema shows them. Unknown values are never judged. */
export type Rule = (config: ValueObject) => readonly string[];

function given(value: Value | undefined): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

function exactlyOne(...names: readonly string[]): Rule {
  return (config) => {
    const set = names.filter((name) => given(config[name]));
    if (set.length === 1 || set.some((name) => isUnknown(config[name]))) return [];
    return [`exactly one of ${names.join(', ')} must be given, but ${set.join(', ') || 'none'} is`];
  };
}

function json(name: string): Rule {
  return (config) => {
    const text = config[name];
    if (typeof text !== 'string') return [];
    try {
      JSON.parse(text);
      return [];
    } catch {
      return [`${name} is not JSON`];
    }
  };
}

function matches(name: string, pattern: RegExp, expected: string): Rule {
  return (config) => {
    const text = config[name];
    return typeof text === 'string' && !pattern.test(text) ? [`${name} must be ${expected}, got ${text}`] : [];
  };
}

function whole(name: string, min: number, max: number): Rule {
  return (config) => {
    const value = config[name];
    return typeof value === 'number' && (value < min || value > max) ? [`${name} must be ${min} to ${max}`] : [];
  };
}

const SECONDS = /^\d+(\.\d+)?s$/;
const MEMBER =
  /^(allUsers|allAuthenticatedUsers|(user|serviceAccount|group|domain|projectOwner|projectEditor|projectViewer|principal|principalSet):.+)$/;

const RULES: Readonly<Record<string, readonly Rule[]>> = {
  google_bigquery_dataset: [matches('dataset_id', /^\w{1,1024}$/, 'letters, digits and _')],
  google_bigquery_table: [json('schema')],
  google_cloud_scheduler_job: [exactlyOne('http_target', 'pubsub_target', 'app_engine_http_target')],
  google_firestore_database: [
    matches('name', /^(\(default\)|[a-z][a-z0-9-]{2,61}[a-z0-9])$/, '4 to 63 of a-z, 0-9 and -'),
  ],
  google_monitoring_dashboard: [json('dashboard_json')],
  google_project_iam_custom_role: [matches('role_id', /^[a-zA-Z0-9_.]{3,64}$/, '3 to 64 letters, digits, _ and .')],
  google_project_service: [matches('service', /\.googleapis\.com$/, 'a service name')],
  google_pubsub_subscription: [
    matches('message_retention_duration', SECONDS, 'a duration such as 600s'),
    whole('ack_deadline_seconds', 10, 600),
  ],
  google_pubsub_topic: [matches('message_retention_duration', SECONDS, 'a duration such as 600s')],
  google_service_account: [matches('account_id', /^[a-z][-a-z0-9]{4,28}[a-z0-9]$/, '6 to 30 of a-z, 0-9 and -')],
  google_storage_bucket_object: [exactlyOne('content', 'source')],
};

const IAM_MEMBER: readonly Rule[] = [
  matches('member', MEMBER, 'TYPE:ID, for example serviceAccount:...'),
  matches('role', /^(roles|projects|organizations)\//, 'roles/... or projects/.../roles/...'),
];

export function rulesOf(type: string): readonly Rule[] {
  return [...(RULES[type] ?? []), ...(type.endsWith('_iam_member') ? IAM_MEMBER : [])];
}
