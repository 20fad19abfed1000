import { readState, sequencePath } from '../../functions/keys/documents.ts';
import type { Handlers } from '../keys/handlers.ts';

/** The event that the cases vary, and where they look. */

export const MINUTE = 60e6;
export const HOUR = 60 * MINUTE;
export const KEY = 'order_001';

export const event = (id: string, status: string, changes: object = {}) => ({
  event_id: id,
  unique_key: KEY,
  event_status: status,
  timestamp: '2024-01-05T10:00:00Z',
  join_key: 'cust_7',
  payload: { amount: 10 },
  ...changes,
});

/** What is known about the key. */
export const stateOf = (cloud: Handlers, key = KEY) => readState(cloud.store.read(sequencePath(key)))!;

/** Reasons of the dead letters, in their order. */
export const reasons = (cloud: Handlers) =>
  cloud.bus.published('deadLetters').map(({ attributes }) => attributes['reason']);

/** Ids of the summaries on their topic, each as often as it was published. */
export const published = (cloud: Handlers) =>
  cloud.bus.published('summaries').map(({ attributes }) => attributes['id']);
