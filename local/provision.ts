import type { BigQuery } from '@google-cloud/bigquery';
import type { CreateSubscriptionOptions, PubSub } from '@google-cloud/pubsub';
import { subscriptionOf } from './joins.ts';
import * as resources from './resources.ts';

const { PROJECT, DATASET } = resources;

/** Creates the dataset, its tables and views through the real client. What is there already stays. */
export async function createTables(bigquery: BigQuery, settings: Readonly<Record<string, string>> = {}): Promise<void> {
  const dataset = bigquery.dataset(DATASET);
  await unlessThere(dataset.create({ location: resources.LOCATION }));
  for (const { name, schema, partition, cluster } of resources.tables()) {
    await unlessThere(
      dataset.createTable(name, {
        schema: { fields: schema },
        ...(partition !== undefined && { timePartitioning: { type: 'DAY', field: partition } }),
        ...(cluster !== undefined && { clustering: { fields: [...cluster] } }),
      }),
    );
  }
  for (const { name, query } of resources.views(settings)) {
    await unlessThere(dataset.createTable(name, { view: { query, useLegacySql: false } }));
  }
}

/**
 * Creates topics and subscriptions, those of watches where `poll` runs, `outputs` for what joins publish. Push endpoints
 * of an earlier run are set to those of this one.
 */
export async function createTopics(
  pubsub: PubSub,
  urls: Readonly<Record<'ingest' | 'finish', string>> & { readonly poll?: string },
  outputs: readonly string[] = ['results'],
): Promise<void> {
  const pushes = urls.poll === undefined ? resources.PUSH : [...resources.PUSH, resources.WATCHES];
  for (const topic of new Set([...resources.TOPICS, ...pushes.map((push) => push.topic), ...outputs])) {
    await unlessThere(pubsub.createTopic(topic));
  }
  for (const { name, topic, target } of pushes) {
    const url = urls[target]!;
    const pushConfig = {
      pushEndpoint: url,
      oidcToken: { serviceAccountEmail: `push@${PROJECT}.iam.gserviceaccount.com`, audience: url },
    };
    const created = await subscribe(pubsub, topic, name, {
      pushConfig,
      ackDeadlineSeconds: resources.ACK_DEADLINE_SECONDS,
      retryPolicy: {
        minimumBackoff: duration(resources.BACKOFF_MS.minimum),
        maximumBackoff: duration(resources.BACKOFF_MS.maximum),
      },
      deadLetterPolicy: {
        deadLetterTopic: `projects/${PROJECT}/topics/dead-letters`,
        maxDeliveryAttempts: resources.MAX_DELIVERY_ATTEMPTS,
      },
    });
    if (!created) await pubsub.subscription(name).modifyPushConfig(pushConfig);
  }
  await subscribe(pubsub, 'dead-letters', resources.DEAD_LETTERS_SUBSCRIPTION, {
    bigqueryConfig: { table: `${PROJECT}.${DATASET}.dead_letters`, writeMetadata: true },
  });
  for (const topic of outputs)
    await subscribe(pubsub, topic, subscriptionOf(topic), { ackDeadlineSeconds: resources.ACK_DEADLINE_SECONDS });
}

async function subscribe(
  pubsub: PubSub,
  topic: string,
  name: string,
  options: CreateSubscriptionOptions,
): Promise<boolean> {
  return unlessThere(
    pubsub.createSubscription(topic, name, {
      messageRetentionDuration: resources.RETENTION_SECONDS,
      ...options,
    }),
  );
}

/** Creates what may be there already: true when it was created now. */
export async function unlessThere(creation: Promise<unknown>): Promise<boolean> {
  try {
    await creation;
    return true;
  } catch (error) {
    const { code } = error as { code?: unknown };
    // gRPC ALREADY_EXISTS, HTTP Conflict.
    if (code === 6 || code === 409) return false;
    throw error;
  }
}

function duration(ms: number): { seconds: number; nanos: number } {
  return { seconds: Math.floor(ms / 1000), nanos: (ms % 1000) * 1e6 };
}
