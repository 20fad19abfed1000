import type { v1 } from '@google-cloud/pubsub';
import type { CallOptions, Client, Metadata, ServiceError } from '@grpc/grpc-js';
import type { Message } from '../ports.ts';
import { DELIMITED, ProtoWriter } from './proto-writer.ts';

/** `google.pubsub.v1.PublishRequest`, with messages as they come. */
export interface PublishRequest {
  readonly topic: string;
  readonly messages: readonly Message[];
}

// Fields of PublishRequest and of PubsubMessage; those of an entry of a map are 1 and 2.
const TOPIC = 1;
const MESSAGES = 2;
const DATA = 1;
const ATTRIBUTES = 2;
const ORDERING_KEY = 5;

const byteLength = (value: string | Uint8Array): number =>
  typeof value === 'string' ? Buffer.byteLength(value) : value.byteLength;

/** Bytes of a field whose content has so many: tag (all are below 16), length and content. */
function field(content: number): number {
  const length = content < 2 ** 7 ? 1 : content < 2 ** 14 ? 2 : content < 2 ** 21 ? 3 : content < 2 ** 28 ? 4 : 5;
  return 1 + length + content;
}

const entrySize = (name: string, value: string): number => field(byteLength(name)) + field(byteLength(value));

/** Bytes of a message in a request. */
export function messageSize({ data, attributes, orderingKey }: Message): number {
  let size = field(byteLength(data));
  for (const name in attributes) size += field(entrySize(name, attributes[name]!));
  return orderingKey === undefined ? size : size + field(byteLength(orderingKey));
}

/** Writes a request once, straight from the text of its messages, into the bytes that `allocate` gives. */
export function encodePublishRequest(
  { topic, messages }: PublishRequest,
  allocate = (size: number): Buffer => Buffer.allocUnsafe(size),
): Buffer {
  const sizes = messages.map(messageSize);
  const total = sizes.reduce((sum, size) => sum + field(size), field(byteLength(topic)));
  const writer = new ProtoWriter(allocate(total + ProtoWriter.SLACK));
  writer.tag(TOPIC, DELIMITED);
  writer.text(topic);
  for (const [i, { data, attributes, orderingKey }] of messages.entries()) {
    writer.tag(MESSAGES, DELIMITED);
    writer.varint(sizes[i]!);
    writer.tag(DATA, DELIMITED);
    if (typeof data === 'string') writer.text(data);
    else writer.bytes(data);
    for (const name in attributes) {
      const value = attributes[name]!;
      writer.tag(ATTRIBUTES, DELIMITED);
      writer.varint(entrySize(name, value));
      writer.tag(1, DELIMITED);
      writer.text(name);
      writer.tag(2, DELIMITED);
      writer.text(value);
    }
    if (orderingKey === undefined) continue;
    writer.tag(ORDERING_KEY, DELIMITED);
    writer.text(orderingKey);
  }
  return writer.finish();
}

type Callback = (error: ServiceError | null, response?: object) => void;
interface PublishMethod {
  (request: PublishRequest, metadata: Metadata, options: CallOptions, callback: Callback): unknown;
  readonly path: string;
  readonly responseDeserialize: (bytes: Buffer) => object;
}

/**
 * The client, with requests that are encoded here. Its generated encoder copies each message and each map first, and
 * takes data as bytes only. Retries, headers and credentials stay the client's.
 */
export async function withOwnEncoder(client: v1.PublisherClient): Promise<v1.PublisherClient> {
  const stub = (await client.initialize()) as unknown as Client & { publish: PublishMethod };
  const { path, responseDeserialize } = stub.publish;
  const spare = new Spare();
  const publish = (request: PublishRequest, metadata: Metadata, options: CallOptions, callback: Callback) => {
    let bytes: Buffer | undefined;
    const encode = (value: PublishRequest) => encodePublishRequest(value, (size) => (bytes = spare.take(size)));
    return stub.makeUnaryRequest(path, encode, responseDeserialize, request, metadata, options, (error, response) => {
      // A call that failed may still hold its bytes.
      if (error === null && bytes !== undefined) spare.give(bytes);
      callback(error, response);
    });
  };
  stub.publish = Object.assign(publish, { path, responseDeserialize });
  return client;
}

const STEP = 2 ** 18;
const MAX_SPARE = 2 ** 23;

/**
 * The bytes of one large request, kept for the next: memory outside of the heap, when it is let go of, brings the next
 * marking of the whole heap nearer. They come in steps of 256 KiB, so that requests of about the same size fit.
 */
class Spare {
  #bytes: Buffer | null = null;

  take(size: number): Buffer {
    if (size < STEP) return Buffer.allocUnsafe(size);
    const kept = this.#bytes;
    this.#bytes = null;
    return kept !== null && kept.length >= size ? kept : Buffer.allocUnsafeSlow(Math.ceil(size / STEP) * STEP);
  }

  give(bytes: Buffer): void {
    if (bytes.length >= STEP && bytes.length <= MAX_SPARE) this.#bytes = bytes;
  }
}
