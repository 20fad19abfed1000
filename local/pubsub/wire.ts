import type { Seconds } from '../shared/wire.ts';

/** google.pubsub.v1 as the protocol layer shows it: camelCase, defaults filled in, absent messages null. */

export interface WireMessage {
  data: Buffer;
  attributes: Record<string, string>;
  messageId: string;
  publishTime: Seconds | null;
  orderingKey: string;
}

export interface Topic {
  name: string;
  labels: Record<string, string>;
  schemaSettings: object | null;
  ingestionDataSourceSettings: object | null;
  messageTransforms: unknown[];
  [field: string]: unknown;
}

export interface PushConfig {
  pushEndpoint: string;
  attributes: Record<string, string>;
  oidcToken?: { serviceAccountEmail: string; audience: string } | null;
  noWrapper?: { writeMetadata: boolean } | null;
}

export interface BigQueryConfig {
  table: string;
  useTopicSchema: boolean;
  useTableSchema: boolean;
  writeMetadata: boolean;
  dropUnknownFields: boolean;
  state: string;
}

/** The settings of a subscription. */
export interface Settings {
  name: string;
  topic: string;
  pushConfig: PushConfig | null;
  bigqueryConfig: BigQueryConfig | null;
  cloudStorageConfig: object | null;
  bigtableConfig: object | null;
  ackDeadlineSeconds: number;
  retainAckedMessages: boolean;
  messageRetentionDuration: Seconds | null;
  enableMessageOrdering: boolean;
  filter: string;
  deadLetterPolicy: { deadLetterTopic: string; maxDeliveryAttempts: number } | null;
  retryPolicy: { minimumBackoff: Seconds | null; maximumBackoff: Seconds | null } | null;
  enableExactlyOnceDelivery: boolean;
  messageTransforms: unknown[];
  state: string;
  [field: string]: unknown;
}

export interface PublishRequest {
  topic: string;
  messages: WireMessage[];
}

export interface ReceivedMessage {
  ackId: string;
  message: WireMessage;
  deliveryAttempt: number;
}

export interface StreamingPullRequest {
  subscription: string;
  ackIds: string[];
  modifyDeadlineSeconds: number[];
  modifyDeadlineAckIds: string[];
  streamAckDeadlineSeconds: number;
  maxOutstandingMessages: string;
  maxOutstandingBytes: string;
}

/** `projects/p/topics/t` to `t`. */
export const shortName = (name: string): string => name.slice(name.lastIndexOf('/') + 1);
