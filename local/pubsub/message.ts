import { fromMs } from '../shared/wire.ts';
import type { WireMessage } from './wire.ts';

/** A published message, shared by every subscription that got it. */
export interface Message {
  readonly id: string;
  readonly data: Buffer;
  readonly attributes: Readonly<Record<string, string>>;
  readonly orderingKey: string;
  /** Epoch milliseconds. */
  readonly publishTime: number;
  /** Bytes that Google would count. */
  readonly size: number;
  /** Subscriptions that still hold it. */
  holders: number;
}

/** Bytes of the time that each message carries. */
const TIMESTAMP_BYTES = 20;

export function sizeOf(message: Pick<Message, 'data' | 'attributes' | 'orderingKey'>): number {
  let size = message.data.length + Buffer.byteLength(message.orderingKey) + TIMESTAMP_BYTES;
  for (const [key, value] of Object.entries(message.attributes)) {
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  return size;
}

export function toWire(message: Message): WireMessage {
  return {
    data: message.data,
    attributes: message.attributes,
    messageId: message.id,
    publishTime: fromMs(message.publishTime),
    orderingKey: message.orderingKey,
  };
}

/** RFC 3339 with milliseconds. */
export const timeText = (ms: number): string => new Date(ms).toISOString();
