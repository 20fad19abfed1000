import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SETTINGS, type Setting } from '../../functions/settings.ts';
import { wokenCollections } from './source-graph.ts';
import type { Plan, Resource } from './terraform.ts';

function environment(f: Resource): Readonly<Record<string, string | null>> {
  const [service] = f.after['service_config'] as [{ environment_variables: Record<string, string | null> }];
  return service.environment_variables;
}

/** What Node.js itself reads. */
const NODE = ['NODE_OPTIONS', 'NODE_COMPILE_CACHE'];

/** Variables that are set but not read, and those that nothing could set. */
export function settingProblems(plan: Plan, module: string): readonly string[] {
  const text = readFileSync(path.join(module, 'functions.tf'), 'utf8');
  const free = [...(/free_settings = \[([^\]]*)\]/.exec(text)?.[1] ?? '').matchAll(/"(\w+)"/g)].map(([, n]) => n!);
  const settings = Object.values(SETTINGS) as readonly Setting<unknown>[];
  const known = settings.map((setting) => setting.env);
  const problems = free.filter((name) => !known.includes(name)).map((name) => `free_settings: nothing reads ${name}`);
  for (const f of plan.of('google_cloudfunctions2_function')) {
    const set = Object.keys(environment(f));
    problems.push(
      ...set
        .filter((name) => !known.includes(name) && !NODE.includes(name))
        .map((name) => `${f.key}: nothing reads ${name}`),
      ...settings
        .filter(({ env, fallback }) => fallback === undefined && !set.includes(env))
        .map(({ env }) => `${f.key}: ${env} is required and not set`),
      ...known
        .filter((name) => !name.endsWith('_EMULATOR_HOST') && !set.includes(name) && !free.includes(name))
        .map((name) => `${f.key}: ${name} cannot be set`),
      ...free.filter((name) => set.includes(name)).map((name) => `${f.key}: ${name} is both set and free`),
    );
    for (const setting of settings) {
      const value = environment(f)[setting.env];
      if (value === undefined || value === null) continue;
      try {
        setting.parse(value);
      } catch (error) {
        problems.push(`${f.key}: ${setting.env}: ${(error as Error).message}`);
      }
    }
  }
  return problems;
}

/** Names given to functions that are not those of planned resources. */
export function namesInSettings(plan: Plan): readonly string[] {
  const all = (type: string, attribute: string) => plan.of(type).map((r) => String(r.after[attribute]));
  const topics = all('google_pubsub_topic', 'name');
  const allowed: Readonly<Record<string, readonly string[]>> = {
    DATASET: all('google_bigquery_dataset', 'dataset_id'),
    LOCATION: all('google_bigquery_dataset', 'location'),
    FIRESTORE_DATABASE: all('google_firestore_database', 'name'),
    EVENTS_TOPIC: topics,
    COMPLETIONS_TOPIC: topics,
    SUMMARIES_TOPIC: topics,
    DEAD_LETTERS_TOPIC: topics,
    RESULTS_TOPIC: topics,
    POLL_QUEUE: all('google_cloud_tasks_queue', 'name'),
    REGION: all('google_cloud_tasks_queue', 'location'),
  };
  return plan.of('google_cloudfunctions2_function').flatMap((f) =>
    Object.entries(allowed)
      .filter(([name, values]) => !values.includes(environment(f)[name] ?? ''))
      .map(([name]) => `${f.key}: ${name} is ${environment(f)[name]}`),
  );
}

/** Settings that name a resource, and whose default is another name than the one that is deployed. */
export function otherDefaults(plan: Plan): readonly string[] {
  const named = /^(DATASET|FIRESTORE_DATABASE|POLL_QUEUE|\w+_TOPIC)$/;
  const settings = (Object.values(SETTINGS) as readonly Setting<unknown>[]).filter(({ env }) => named.test(env));
  return plan
    .of('google_cloudfunctions2_function')
    .flatMap((f) =>
      settings
        .filter(({ env, fallback }) => environment(f)[env] !== fallback)
        .map(({ env, fallback }) => `${f.key}: ${env} is ${environment(f)[env]}, by default ${fallback}`),
    );
}

/** Searches of the sweep without their index, on (shard, wake_at). */
export function wakeIndexProblems(plan: Plan): readonly string[] {
  const indexed = plan
    .of('google_firestore_index')
    .filter((r) => (r.after['fields'] as { field_path: string }[]).map((f) => f.field_path).join() === 'shard,wake_at')
    .map((r) => r.after['collection']);
  const collections = wokenCollections();
  return [
    ...(collections.length > 0 ? [] : ['no search was found in the code']),
    ...collections.filter((name) => !indexed.includes(name)).map((name) => `${name} has no index on (shard, wake_at)`),
  ];
}
