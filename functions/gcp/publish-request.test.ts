import assert from 'node:assert/strict';
import { test } from 'node:test';
import { protos } from '@google-cloud/pubsub';
import fc from 'fast-check';
import type { Message } from '../ports.ts';
import { encodePublishRequest, messageSize, withOwnEncoder } from './publish-request.ts';

const { PublishRequest, PubsubMessage } = protos.google.pubsub.v1;
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 100, maxLength: 20_000, unit: 'grapheme' }),
);
const message: fc.Arbitrary<Message> = fc.record(
  { data: fc.oneof(text, fc.uint8Array({ maxLength: 300 })), attributes: fc.dictionary(text, text), orderingKey: text },
  { requiredKeys: ['data', 'attributes'] },
);

test('a request is what the generated decoder reads, and as large as was counted', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(message, { maxLength: 5 }), (topic, messages) => {
      const decoded = PublishRequest.decode(encodePublishRequest({ topic, messages }));
      assert.equal(decoded.topic, topic);
      assert.deepEqual(
        decoded.messages.map(({ data, attributes, orderingKey }) => [
          Buffer.from(data as Buffer),
          { ...attributes },
          orderingKey,
        ]),
        messages.map(({ data, attributes, orderingKey }) => [
          Buffer.from(data as string),
          { ...attributes },
          orderingKey ?? '',
        ]),
      );
      for (const { data, attributes, orderingKey } of messages) {
        const plain = { data: Buffer.from(data as string), attributes: { ...attributes }, orderingKey };
        assert.equal(
          messageSize({ data, attributes, ...(orderingKey === undefined ? {} : { orderingKey }) }),
          PubsubMessage.encode(PubsubMessage.fromObject(plain)).finish().length,
        );
      }
    }),
  );
});

test('bytes that are large enough are never exchanged for larger ones', () => {
  for (let length = 0; length < 40; length++) {
    const messages = [{ data: 'x'.repeat(length), attributes: {} }];
    let given: Buffer | undefined;
    const encoded = encodePublishRequest({ topic: '', messages }, (size) => (given = Buffer.alloc(size)));
    assert.equal(encoded.buffer, given!.buffer);
  }
});

test('the bytes of a request serve another only after its answer', async () => {
  const calls: { readonly bytes: Buffer; readonly end: (error: Error | null) => void }[] = [];
  const stub = {
    publish: Object.assign(() => undefined, { path: '/p', responseDeserialize: () => ({}) }),
    makeUnaryRequest(_path: string, encode: (value: unknown) => Buffer, ...rest: readonly unknown[]) {
      const end = rest.at(-1) as (error: Error | null) => void;
      calls.push({ bytes: encode(rest[1]), end });
    },
  };
  await withOwnEncoder({ initialize: () => Promise.resolve(stub) } as never);
  const publish = stub.publish as (...values: readonly unknown[]) => void;
  const send = (letter: string) => {
    const messages = [{ data: letter.repeat(300_000), attributes: {} }];
    publish({ topic: 't', messages }, {}, {}, () => undefined);
    const call = calls.at(-1)!;
    return { ...call, holds: () => call.bytes.includes(letter.repeat(300_000)) };
  };
  const [a, b] = [send('a'), send('b')];
  assert.ok(a.holds() && b.holds());
  b.end(new Error('no answer'));
  const c = send('c');
  assert.ok(a.holds() && b.holds());
  c.end(null);
  const d = send('d');
  assert.equal(d.bytes.buffer, c.bytes.buffer);
  assert.ok(a.holds() && b.holds());
});
