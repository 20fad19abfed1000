import { SECRET_PREFIX } from '../../functions/gcp/probe-http.ts';
import { REGION, type Plan, type Resource } from './terraform.ts';

/** Rules over a plan. Each returns what breaks it, a line each. */

type Policy = (plan: Plan) => readonly string[];

/** Blocks are lists in a plan; the first is the only one. */
function block(resource: Resource, name: string): Readonly<Record<string, unknown>> {
  const [first] = (resource.after[name] ?? []) as readonly Readonly<Record<string, unknown>>[];
  return first ?? {};
}

function failing(resources: readonly Resource[], ok: (resource: Resource) => boolean): readonly string[] {
  return resources.filter((resource) => !ok(resource)).map((resource) => resource.address);
}

function grants(plan: Plan): readonly Resource[] {
  return plan.resources.filter((r) => r.type.endsWith('_iam_member'));
}

const pushes = (plan: Plan) => plan.of('google_pubsub_subscription', 'push');
const functions = (plan: Plan) => plan.of('google_cloudfunctions2_function');
const timeout = (f: Resource): number => Number(block(f, 'service_config')['timeout_seconds']);

/** Roles that can be given on nothing smaller than the project, and why. */
const PROJECT_ROLES: Readonly<Record<string, string>> = {
  'roles/bigquery.jobUser': 'jobs belong to a project',
  'roles/logging.logWriter': 'logs belong to a project',
  job_reader: 'jobs belong to a project',
};
/** Given on the project, narrowed to one resource by a condition. */
const CONDITIONAL_ROLES = ['roles/datastore.user', 'roles/storage.objectViewer'];

export const POLICIES: Readonly<Record<string, Policy>> = {
  'no subscription is made by a trigger': (plan) =>
    failing(functions(plan), (f) => ((f.after['event_trigger'] ?? []) as readonly unknown[]).length === 0),

  'every push subscription keeps failed messages': (plan) =>
    failing(pushes(plan), (s) => {
      const letters = block(s, 'dead_letter_policy');
      return (
        String(letters['dead_letter_topic']).endsWith('dead-letters') && Number(letters['max_delivery_attempts']) >= 5
      );
    }),

  'Pub/Sub may forward dead letters, by both grants': (plan) => {
    const agent = (r: Resource) => /^serviceAccount:service-\d+@gcp-sa-pubsub\./.test(String(r.after['member']));
    const publishes = plan
      .of('google_pubsub_topic_iam_member')
      .some(
        (r) =>
          agent(r) && r.after['role'] === 'roles/pubsub.publisher' && String(r.after['topic']).endsWith('dead-letters'),
      );
    const acknowledges = plan
      .of('google_pubsub_subscription_iam_member')
      .filter((r) => agent(r) && r.after['role'] === 'roles/pubsub.subscriber')
      .map((r) => r.after['subscription']);
    return [
      ...(publishes ? [] : ['no grant to publish to the dead-letter topic']),
      ...failing(pushes(plan), (s) => acknowledges.includes(s.after['name'])),
    ];
  },

  'dead letters go into a table': (plan) => {
    const into = plan
      .of('google_pubsub_subscription', 'dead_letters')
      .filter(
        (s) =>
          String(s.after['topic']).endsWith('dead-letters') &&
          String(block(s, 'bigquery_config')['table']).endsWith('.dead_letters'),
      );
    return into.length === 1 ? [] : ['the dead-letter topic has no subscription into its table'];
  },

  'everything is in the region': (plan) =>
    failing(plan.resources, ({ after }) => {
      const places = ['location', 'location_id', 'region'].map((name) => after[name]);
      return places.every((place) => typeof place !== 'string' || place === REGION);
    }),

  'every subscription keeps messages for a week and never expires': (plan) =>
    failing(plan.of('google_pubsub_subscription'), (s) => {
      const kept = Number(String(s.after['message_retention_duration']).slice(0, -1));
      return kept >= 7 * 86_400 && block(s, 'expiration_policy')['ttl'] === '';
    }),

  'every subscription waits longer each time': (plan) =>
    failing(plan.of('google_pubsub_subscription'), (s) => block(s, 'retry_policy')['minimum_backoff'] === '10s'),

  'pushes carry a token': (plan) =>
    failing(pushes(plan), (s) => {
      const [token] = (block(s, 'push_config')['oidc_token'] ?? []) as readonly Record<string, unknown>[];
      return String(token?.['service_account_email']).includes('-push@');
    }),

  'Pub/Sub waits longer than a function may run': (plan) => {
    const longest = Math.max(
      ...functions(plan)
        .filter((f) => ['ingest', 'finish'].includes(f.key))
        .map(timeout),
    );
    return failing(pushes(plan), (s) => Number(s.after['ack_deadline_seconds']) > longest);
  },

  'Cloud Scheduler waits longer than a function may run': (plan) =>
    failing(plan.of('google_cloud_scheduler_job'), (job) => {
      const target = functions(plan).find((f) => f.key === job.name)!;
      return Number(String(job.after['attempt_deadline']).slice(0, -1)) > timeout(target);
    }),

  'nobody is everybody': (plan) =>
    failing(grants(plan), (r) => !['allUsers', 'allAuthenticatedUsers'].includes(String(r.after['member']))),

  'no primitive role': (plan) =>
    failing(grants(plan), (r) => !/^roles\/(owner|editor|viewer)$|admin/i.test(String(r.after['role']))),

  'no role on the project where a smaller place would do': (plan) =>
    failing(plan.of('google_project_iam_member'), (r) => {
      // One of our own without its project and the name of the deployment.
      const role = String(r.after['role']).replace(/^projects\/.*codaflow_/, '');
      const { expression } = block(r, 'condition');
      const narrowed = typeof expression === 'string' && expression.startsWith('resource.name');
      return role in PROJECT_ROLES || (CONDITIONAL_ROLES.includes(role) && narrowed);
    }),

  'no default identity': (plan) =>
    failing(functions(plan), (f) => {
      const account = String(block(f, 'service_config')['service_account_email']);
      return account.includes(`-${f.key}@`) && String(block(f, 'build_config')['service_account']).includes('-build@');
    }),

  'data is protected from deletion': (plan) => [
    ...failing(plan.of('google_bigquery_table', 'table'), (r) => r.after['deletion_protection'] === true),
    ...failing(
      plan.of('google_firestore_database'),
      (r) =>
        r.after['delete_protection_state'] === 'DELETE_PROTECTION_ENABLED' && r.after['deletion_policy'] === 'ABANDON',
    ),
    ...failing(plan.of('google_bigquery_dataset'), (r) => r.after['delete_contents_on_destroy'] === false),
  ],

  'functions run on Node 24, on a whole CPU, many requests at a time': (plan) =>
    failing(functions(plan), (f) => {
      const service = block(f, 'service_config');
      return (
        block(f, 'build_config')['runtime'] === 'nodejs24' &&
        service['available_cpu'] === '1' &&
        Number(service['max_instance_request_concurrency']) > 1
      );
    }),

  'secrets are shown to poll alone, as it reads them': (plan) =>
    failing(functions(plan), (f) => {
      const secrets = (block(f, 'service_config')['secret_environment_variables'] ?? []) as readonly { key: string }[];
      return secrets.every(({ key }) => f.key === 'poll' && key.startsWith(SECRET_PREFIX));
    }),

  'functions are reached from inside only': (plan) =>
    failing(functions(plan), (f) => block(f, 'service_config')['ingress_settings'] === 'ALLOW_INTERNAL_ONLY'),

  'the name of the archive follows its content': (plan) =>
    failing(plan.of('google_storage_bucket_object'), (r) => /source-[0-9a-f]{64}\.zip/.test(String(r.after['name']))),

  'buckets are private': (plan) =>
    failing(
      plan.of('google_storage_bucket'),
      (r) => r.after['public_access_prevention'] === 'enforced' && r.after['uniform_bucket_level_access'] === true,
    ),

  'no service is turned off for others': (plan) =>
    failing(plan.of('google_project_service'), (r) => r.after['disable_on_destroy'] === false),

  'every alarm has a severity and a page': (plan) =>
    failing(plan.of('google_monitoring_alert_policy'), (r) => {
      const page = String(block(r, 'documentation')['content']);
      return r.after['severity'] !== null && page.endsWith(`/${r.key}.md`);
    }),
};

/** Attributes by which a project tells resources of a kind apart; others are inside one of these, or are grants. */
const NAMES: Readonly<Record<string, string>> = {
  google_artifact_registry_repository: 'repository_id',
  google_bigquery_dataset: 'dataset_id',
  google_cloud_scheduler_job: 'name',
  google_cloud_tasks_queue: 'name',
  google_cloudfunctions2_function: 'name',
  google_firestore_database: 'name',
  google_logging_metric: 'name',
  google_monitoring_alert_policy: 'display_name',
  google_project_iam_custom_role: 'role_id',
  google_pubsub_schema: 'name',
  google_pubsub_subscription: 'name',
  google_pubsub_topic: 'name',
  google_service_account: 'account_id',
  google_storage_bucket: 'name',
};

/** Names of a deployment in its project, as `kind name`. */
export function namesOf(plan: Plan): readonly string[] {
  return Object.entries(NAMES).flatMap(([type, attribute]) =>
    plan.of(type).map(({ after }) => `${type} ${String(after[attribute])}`),
  );
}

/** What breaks a policy in this plan. */
export function check(policy: string, plan: Plan): readonly string[] {
  return POLICIES[policy]!(plan);
}
