import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { lookProblems, metricProblems } from './monitoring.ts';
import { namesInSettings, otherDefaults, settingProblems, wakeIndexProblems } from './names.ts';
import { missing, OPTIONAL, superfluous } from './permissions.ts';
import { check, POLICIES } from './policies.ts';
import { withoutTerraform, Workspace, type Plan } from './terraform.ts';
import { unused } from './unused.ts';

/** Mistakes, planted one at a time. Each must be found, and for the reason it is one. */

interface Plant {
  readonly file: string;
  readonly from: string | RegExp;
  readonly to: string;
  /** In what is reported. */
  readonly found: RegExp;
}

const PLANTS: Readonly<Record<string, Plant>> = {
  'misspelt argument': {
    file: 'topics.tf',
    from: 'ack_deadline_seconds       = var',
    to: 'ack_deadline               = var',
    found: /topics\.tf.*ack_deadline/,
  },
  'missing argument': {
    file: 'firestore.tf',
    from: /  location_id .*\n/,
    to: '',
    found: /location_id/,
  },
  'unknown kind of resource': {
    file: 'queues.tf',
    from: '"google_cloud_tasks_queue"',
    to: '"google_cloudtasks_queue"',
    found: /google_cloudtasks_queue/,
  },
  'value outside its list': {
    file: 'firestore.tf',
    from: '"FIRESTORE_NATIVE"',
    to: '"FIRESTORE"',
    found: /FIRESTORE_NATIVE/,
  },
  'argument that only the provider sets': {
    file: 'project.tf',
    from: 'disable_on_destroy = false',
    to: 'disable_on_destroy = false\n  id                 = "x"\n  effective_labels   = {}',
    found: /effective_labels/,
  },
  'reference to nothing': {
    file: 'outputs.tf',
    from: 'google_firestore_database.codaflow.name',
    to: 'google_firestore_database.state.name',
    found: /not been declared/,
  },
  'schema that is not JSON': {
    file: 'schemas/events.json',
    from: '[',
    to: '[[',
    found: /schema is not JSON/,
  },
  'key of a map that is not there': {
    file: 'functions.tf',
    from: 'google_pubsub_topic.topic["summaries"]',
    to: 'google_pubsub_topic.topic["summary"]',
    found: /functions\.tf/,
  },
  'variable that nothing uses': {
    file: 'variables.tf',
    from: 'variable "prefix"',
    to: 'variable "spare" {\n  type    = string\n  default = ""\n}\n\nvariable "prefix"',
    found: /var\.spare/,
  },
  'local that nothing uses': {
    file: 'bigquery.tf',
    from: '  day_ms =',
    to: '  hour_ms = 3600000\n  day_ms  =',
    found: /local\.hour_ms/,
  },
  format: { file: 'budget.tf', from: '  count =', to: '    count=', found: /budget\.tf/ },
  'trigger instead of a subscription of our own': {
    file: 'functions.tf',
    from: '  service_config {',
    to: '  event_trigger {\n    event_type = "google.cloud.pubsub.topic.v1.messagePublished"\n  }\n\n  service_config {',
    found: /no subscription is made by a trigger/,
  },
  'subscription without dead letter': {
    file: 'topics.tf',
    from: /  dead_letter_policy \{[\s\S]*?\n  \}\n/,
    to: '',
    found: /keeps failed messages/,
  },
  'dead letters that Pub/Sub may not publish': {
    file: 'access.tf',
    from: /.*"dead-letters\/pubsub".*\n/,
    to: '',
    found: /pubsub calls pubsub\.Publish on topic dead-letters/,
  },
  'dead letters that Pub/Sub may not take': {
    file: 'access.tf',
    from: '  role         = "roles/pubsub.subscriber"',
    to: '  role         = "roles/pubsub.viewer"',
    found: /both grants/,
  },
  'dead letters that nobody keeps': {
    file: 'topics.tf',
    from: /(resource "google_pubsub_subscription" "dead_letters"[\s\S]*?)\["dead-letters"\]/,
    to: '$1["summaries"]',
    found: /no subscription into its table/,
  },
  'queue in another region': {
    file: 'queues.tf',
    from: 'location = var.region',
    to: 'location = "us-central1"',
    found: /everything is in the region: google_cloud_tasks_queue/,
  },
  'subscription that expires': {
    file: 'topics.tf',
    from: 'ttl = "" # never, however long nobody publishes',
    to: 'ttl = "2678400s"',
    found: /never expires/,
  },
  'handler that outlives its delivery': {
    file: 'functions.tf',
    from: 'ingest = { callers = ["push"], timeout = 60',
    to: 'ingest = { callers = ["push"], timeout = 120',
    found: /Pub\/Sub waits longer/,
  },
  'run that outlives its tick': {
    file: 'schedules.tf',
    from: 'attempt_deadline = "600s"',
    to: 'attempt_deadline = "180s"',
    found: /Cloud Scheduler waits longer/,
  },
  'public function': {
    file: 'access.tf',
    from: 'member   = each.value.member',
    to: 'member   = "allUsers"',
    found: /nobody is everybody/,
  },
  'primitive role': {
    file: 'access.tf',
    from: '"roles/bigquery.jobUser"',
    to: '"roles/editor"',
    found: /no primitive role/,
  },
  'role on the whole project': {
    file: 'access.tf',
    from: /(resource "google_project_iam_member" "state"[\s\S]*?)\n  condition \{[\s\S]*?\n  \}\n/,
    to: '$1',
    found: /no role on the project/,
  },
  'wrong role': {
    file: 'access.tf',
    from: 'role   = "roles/pubsub.publisher"',
    to: 'role   = "roles/pubsub.subscriber"',
    found: /ingest calls pubsub\.Publish on topic completions/,
  },
  'missing grant': {
    file: 'access.tf',
    from: '    finish = "summaries"\n',
    to: '',
    found: /finish calls bigquerystorage\.AppendRows/,
  },
  'grant that nothing needs': {
    file: 'access.tf',
    from: '"events/poll" ',
    to: '"summaries/sweep" = google_service_account.account["sweep"].member\n      "events/poll" ',
    found: /superfluous.*summaries\/sweep/,
  },
  'grant to the wrong identity': {
    file: 'access.tf',
    from: '    join   = "joined"',
    to: '    sweep  = "joined"',
    found: /join calls bigquery\.write on table joined/,
  },
  'permission that nobody needs': {
    file: 'access.tf',
    from: '"bigquery.tables.updateData"]',
    to: '"bigquery.tables.updateData", "bigquery.tables.delete"]',
    found: /superfluous: bigquery\.tables\.delete/,
  },
  'secret for every function': {
    file: 'functions.tf',
    from: 'each.key == "poll" ? var.polling.secrets : {}',
    to: 'var.polling.secrets',
    found: /secrets are shown to poll alone/,
  },
  'secret under a name that no watch can give': {
    file: 'functions.tf',
    from: '"PROBE_SECRET_$',
    to: '"SECRET_$',
    found: /secrets are shown to poll alone/,
  },
  'database under a name of its own': {
    file: 'firestore.tf',
    from: 'name             = local.name',
    to: 'name             = "${local.name}-state"',
    found: /FIRESTORE_DATABASE is codaflow-state, by default codaflow/,
  },
  'data that destroy would take': {
    file: 'bigquery.tf',
    from: 'deletion_protection = var.deletion_protection',
    to: 'deletion_protection = false',
    found: /protected from deletion/,
  },
  'one request at a time': {
    file: 'functions.tf',
    from: 'poll   = { callers = ["push", "tasks"], timeout = 60, max_instances = 10, concurrency = 40 }',
    to: 'poll   = { callers = ["push", "tasks"], timeout = 60, max_instances = 10, concurrency = 1 }',
    found: /many requests at a time/,
  },
  'archive whose name does not follow its content': {
    file: 'source.tf',
    from: '${data.archive_file.source.output_sha256}',
    to: 'latest',
    found: /name of the archive/,
  },
  'variable of the environment that the code does not read': {
    file: 'functions.tf',
    from: 'DATASET ',
    to: 'BIGQUERY_DATASET = "codaflow"\n    DATASET ',
    found: /nothing reads BIGQUERY_DATASET/,
  },
  'variable of the environment that the code lacks': {
    file: 'functions.tf',
    from: /    PROJECT_ID .*\n/,
    to: '',
    found: /PROJECT_ID is required/,
  },
  'name that only the functions know': {
    file: 'functions.tf',
    from: '"${local.topic_prefix}results"',
    to: '"joined-rows"',
    found: /RESULTS_TOPIC is joined-rows/,
  },
  'value that the code refuses': {
    file: 'functions.tf',
    from: '"${var.bigquery.max_time_travel_hours}h"',
    to: '"${var.bigquery.max_time_travel_hours} hours"',
    found: /TIME_TRAVEL: expected a duration/,
  },
  'search without index': {
    file: 'firestore.tf',
    from: 'woken = toset(["sequences", "watches"])',
    to: 'woken = toset(["watches"])',
    found: /sequences has no index/,
  },
  'metric of a line that nobody writes': {
    file: 'metrics.tf',
    from: '"join.done"',
    to: '"join.finished"',
    found: /nothing logs join\.finished/,
  },
  'metric of a field that is not there': {
    file: 'metrics.tf',
    from: '"lagSeconds"',
    to: '"delaySeconds"',
    found: /join\.plan has no delaySeconds/,
  },
  'metric that nobody looks at': {
    file: 'dashboard.tf',
    from: 'local.filter["poll_retries"]',
    to: 'local.filter["poll_done"]',
    found: /nobody looks at poll_retries/,
  },
  'distribution summed up as if it were a number': {
    file: 'dashboard.tf',
    from: /(local\.filter\["join_lag"\]\s+align {2}= )"ALIGN_PERCENTILE_50"/,
    to: '$1"ALIGN_DELTA"',
    found: /join_lag is aligned as ALIGN_DELTA/,
  },
  'query of a metric that is not there': {
    file: 'metrics.tf',
    from: 'googleapis_com:user_',
    to: 'googleapis_com:',
    found: /nobody looks at ingest_stored/,
  },
  'alarm without page': {
    file: 'alerts.tf',
    from: '    queue-backlog = {',
    to: '    queue-depth = {',
    found: /queue-depth\.md/,
  },
};

/** All that the other tests would report, without stopping at the first. */
async function problems(workspace: Workspace, pages: readonly string[]): Promise<string> {
  const vain = unused(workspace.module);
  if (vain.length > 0) return vain.join('\n');
  let plan: Plan;
  try {
    plan = await workspace.plan(OPTIONAL.variables);
  } catch (error) {
    // What does not validate does not plan either, and is told less clearly there.
    return [...(await workspace.validate()), (error as Error).message].join('\n');
  }
  return [
    ...Object.keys(POLICIES).flatMap((policy) => check(policy, plan).map((problem) => `${policy}: ${problem}`)),
    ...missing(plan),
    ...superfluous(plan).map((grant) => `superfluous: ${grant}`),
    ...settingProblems(plan, workspace.module),
    ...namesInSettings(plan),
    ...otherDefaults(plan),
    ...wakeIndexProblems(plan),
    ...metricProblems(plan),
    ...lookProblems(plan),
    ...plan
      .of('google_monitoring_alert_policy')
      .filter((alarm) => !pages.includes(`${alarm.key}.md`))
      .map((alarm) => `no page ${alarm.key}.md`),
  ].join('\n');
}

describe('planted mistakes', { skip: withoutTerraform }, () => {
  let workspace: Workspace;
  const pages = Workspace.pages();
  before(async () => {
    workspace = await new Workspace().open();
  });
  after(() => workspace.close());

  test('nothing is found where nothing is planted', async () => {
    assert.equal(await problems(workspace, pages), '');
  });

  for (const [name, { file, from, to, found }] of Object.entries(PLANTS)) {
    test(name, async () => {
      const target = path.join(workspace.module, file);
      const text = readFileSync(target, 'utf8');
      const planted = text.replace(from, to);
      assert.notEqual(planted, text, `${file} does not have what is to be replaced`);
      writeFileSync(target, planted);
      try {
        const format = async () => (await workspace.run('fmt', '-check', '-no-color')).out;
        assert.match(await (name === 'format' ? format() : problems(workspace, pages)), found);
      } finally {
        writeFileSync(target, text);
      }
    });
  }
});
