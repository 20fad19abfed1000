import { StatusError } from '../shared/faults.ts';
import { toMs } from '../shared/wire.ts';
import type { Settings, Topic, WireMessage } from './wire.ts';

const INVALID_ARGUMENT = 3;
const UNIMPLEMENTED = 12;

export const MAX_REQUEST_BYTES = 10 * 1024 * 1024;
const MAX_MESSAGES = 1000;
const MAX_DATA_BYTES = 10_000_000;
const MAX_ATTRIBUTES = 100;
const MAX_KEY_BYTES = 256;
const MAX_VALUE_BYTES = 1024;
const MAX_ORDERING_KEY_BYTES = 1024;

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
export const DEFAULT_RETENTION = 7 * DAY;

const invalid = (message: string) => new StatusError(INVALID_ARGUMENT, message);
const unsupported = (what: string) => new StatusError(UNIMPLEMENTED, `${what} is not available on the local Pub/Sub`);

/** Throws unless `name` is `projects/P/KIND/ID` with a legal id. */
export function checkName(name: string, kind: 'topics' | 'subscriptions'): void {
  const [projects, project, found, id, ...rest] = name.split('/');
  const legal = id !== undefined && /^[A-Za-z][A-Za-z0-9._~+%-]{2,254}$/.test(id) && !/^goog/i.test(id);
  if (projects !== 'projects' || !project || found !== kind || !legal || rest.length > 0) {
    throw invalid(`Invalid resource name given (name=${name}).`);
  }
}

/** Throws when the topic has an illegal name or asks for what is not here. */
export function checkTopic(topic: Topic): void {
  checkName(topic.name, 'topics');
  if (topic.schemaSettings) throw unsupported('schema_settings');
  if (topic.ingestionDataSourceSettings) throw unsupported('ingestion_data_source_settings');
  if (topic.messageTransforms.length > 0) throw unsupported('message_transforms');
}

/** Throws unless every message of a request is acceptable. */
export function checkMessages(messages: readonly WireMessage[], requestBytes: number): void {
  if (requestBytes > MAX_REQUEST_BYTES) {
    throw invalid(`Request payload size exceeds the limit: ${MAX_REQUEST_BYTES} bytes.`);
  }
  if (messages.length === 0) throw invalid('The request contains no messages.');
  if (messages.length > MAX_MESSAGES) throw tooLarge('messages', messages.length, MAX_MESSAGES);
  for (const message of messages) checkMessage(message);
}

function checkMessage({ data, attributes, orderingKey }: WireMessage): void {
  const names = Object.entries(attributes);
  if (data.length === 0 && names.length === 0) {
    throw invalid('One or more messages in the publish request is empty: it needs data or an attribute.');
  }
  if (data.length > MAX_DATA_BYTES) throw tooLarge('message_size', data.length, MAX_DATA_BYTES);
  if (names.length > MAX_ATTRIBUTES) throw tooLarge('attributes', names.length, MAX_ATTRIBUTES);
  const keyBytes = Buffer.byteLength(orderingKey);
  if (keyBytes > MAX_ORDERING_KEY_BYTES) throw tooLarge('ordering_key', keyBytes, MAX_ORDERING_KEY_BYTES);
  for (const [key, value] of names) {
    if (key === '') throw invalid('An attribute key is empty.');
    if (/^goog/i.test(key)) throw invalid(`The attribute key ${key} starts with goog, which is reserved.`);
    const bytes = Buffer.byteLength(key);
    if (bytes > MAX_KEY_BYTES) throw tooLarge('attribute key', bytes, MAX_KEY_BYTES);
    const valueBytes = Buffer.byteLength(value);
    if (valueBytes > MAX_VALUE_BYTES) throw tooLarge(`attribute value of ${key}`, valueBytes, MAX_VALUE_BYTES);
  }
}

const tooLarge = (what: string, given: number, limit: number) =>
  invalid(`The value for ${what} is too large. You passed ${given} in the request, but the maximum value is ${limit}.`);

const between = (what: string, value: number, min: number, max: number) => {
  if (!(value >= min && value <= max)) throw invalid(`${what} must be between ${min} and ${max}, not ${value}.`);
};

/** The settings with Google's defaults filled in; throws when they are out of range or ask for what is not here. */
export function checkSettings(given: Settings): Settings {
  const settings = { ...given, state: 'ACTIVE' };
  checkName(settings.name, 'subscriptions');
  if (settings.cloudStorageConfig) throw unsupported('cloud_storage_config');
  if (settings.bigtableConfig) throw unsupported('bigtable_config');
  if (settings.enableExactlyOnceDelivery) throw unsupported('enable_exactly_once_delivery');
  if (settings.retainAckedMessages) throw unsupported('retain_acked_messages');
  if (settings.messageTransforms.length > 0) throw unsupported('message_transforms');
  if (settings.pushConfig?.pushEndpoint && settings.bigqueryConfig?.table) {
    throw invalid('At most one of push_config and bigquery_config may be set.');
  }
  settings.ackDeadlineSeconds ||= 10;
  between('ack_deadline_seconds', settings.ackDeadlineSeconds, 10, 600);
  const retention = toMs(settings.messageRetentionDuration);
  if (retention === undefined)
    settings.messageRetentionDuration = { seconds: String(DEFAULT_RETENTION / 1000), nanos: 0 };
  else between('message_retention_duration (ms)', retention, 10 * MINUTE, 31 * DAY);
  if (settings.deadLetterPolicy) {
    checkName(settings.deadLetterPolicy.deadLetterTopic, 'topics');
    const maxDeliveryAttempts = settings.deadLetterPolicy.maxDeliveryAttempts || 5;
    between('max_delivery_attempts', maxDeliveryAttempts, 5, 100);
    settings.deadLetterPolicy = { ...settings.deadLetterPolicy, maxDeliveryAttempts };
  }
  if (settings.retryPolicy) settings.retryPolicy = checkRetry(settings.retryPolicy);
  if (settings.pushConfig?.pushEndpoint) checkEndpoint(settings.pushConfig.pushEndpoint);
  if (settings.bigqueryConfig?.table) settings.bigqueryConfig = checkBigQuery(settings.bigqueryConfig);
  return settings;
}

function checkRetry(policy: NonNullable<Settings['retryPolicy']>): NonNullable<Settings['retryPolicy']> {
  const min = policy.minimumBackoff ?? { seconds: '10', nanos: 0 };
  const max = policy.maximumBackoff ?? { seconds: '600', nanos: 0 };
  between('minimum_backoff (ms)', toMs(min)!, 0, 600_000);
  between('maximum_backoff (ms)', toMs(max)!, 0, 600_000);
  if (toMs(min)! > toMs(max)!) throw invalid('minimum_backoff must not exceed maximum_backoff.');
  return { minimumBackoff: min, maximumBackoff: max };
}

function checkEndpoint(endpoint: string): void {
  if (!/^https?:/.test(endpoint) || !URL.canParse(endpoint)) {
    throw invalid(`Invalid push endpoint given (endpoint=${endpoint}).`);
  }
}

function checkBigQuery(config: NonNullable<Settings['bigqueryConfig']>): NonNullable<Settings['bigqueryConfig']> {
  if (config.useTopicSchema) throw unsupported('bigquery_config.use_topic_schema');
  if (config.dropUnknownFields) throw unsupported('bigquery_config.drop_unknown_fields');
  if (!/^[^.:]+[.:][^.]+\.[^.]+$/.test(config.table)) throw invalid(`Invalid BigQuery table: ${config.table}`);
  return { ...config, state: 'ACTIVE' };
}
