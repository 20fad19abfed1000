import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { PubSub, type Message as Received } from '@google-cloud/pubsub';
import { startPubSub, type PubSubServer } from '../../local/pubsub/server.ts';
import { Faults, type Fault } from '../../local/shared/faults.ts';
import { loadConfig } from '../config.ts';
import { AmbiguousError, PermanentError, TransientError } from '../core/errors.ts';
import type { Message } from '../ports.ts';
import { createBus } from './pubsub-bus.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

let server: PubSubServer;
let client: PubSub;
let fault: Fault | undefined;
let calls = 0;

before(async () => {
  const faults = new Faults(({ method }) => {
    if (method !== 'Publish') return undefined;
    calls++;
    return fault;
  });
  server = await startPubSub({ faults });
  client = new PubSub({ projectId: 'local-project', apiEndpoint: server.address, emulatorMode: true });
  for (const topic of ['completions', 'summaries', 'results', 'own']) {
    await client.createTopic(topic);
    await client.topic(topic).createSubscription(`${topic}-s`, { enableMessageOrdering: true });
  }
});
after(async () => {
  await client.close();
  await server.stop();
});
beforeEach(() => {
  fault = undefined;
  calls = 0;
});

const bus = (deadline = '2s') =>
  createBus({
    config: loadConfig({ PROJECT_ID: 'local-project', PUBSUB_EMULATOR_HOST: server.address, PORT_DEADLINE: deadline }),
  });

/** The next `count` messages of a topic. */
async function received(topic: string, count: number): Promise<Received[]> {
  const subscription = client.subscription(`${topic}-s`);
  const messages: Received[] = [];
  await new Promise<void>((resolve, reject) => {
    subscription.on('error', reject);
    subscription.on('message', (message) => {
      messages.push(message);
      message.ack();
      if (messages.length === count) resolve();
    });
  });
  await subscription.close();
  return messages;
}

const text = (data: string, orderingKey?: string): Message => ({
  data,
  attributes: { n: data },
  ...(orderingKey === undefined ? {} : { orderingKey }),
});

describe('publishing', () => {
  test('bytes and attributes arrive as they were, in one request', async () => {
    const bytes = new Uint8Array([0, 255, 0x7b, 10]);
    const ids = await bus().publish('completions', [{ data: bytes, attributes: { ключ: '値' } }, text('b')]);
    assert.ok(ids.every((id) => typeof id === 'string' && id !== ''));
    assert.equal(calls, 1);
    const [first, second] = (await received('completions', 2)).sort((a, b) => a.data.length - b.data.length).reverse();
    assert.deepEqual([...first!.data], [...bytes]);
    assert.deepEqual(first!.attributes, { ключ: '値' });
    assert.equal(second!.data.toString(), 'b');
  });

  test('many messages: results in their order', async () => {
    const ids = await bus().publish(
      'summaries',
      Array.from({ length: 2500 }, (_, i) => text(String(i))),
    );
    const byId = new Map((await received('summaries', 2500)).map((message) => [message.id, message.data.toString()]));
    assert.deepEqual(
      ids.map((id) => byId.get(id as string)),
      Array.from({ length: 2500 }, (_, i) => String(i)),
    );
  });

  test('large requests, one after the other and at once, are as they were', async () => {
    const target = bus('5s');
    const rounds = [60_000, 50_000, 70_000, 60_001].map((length, round) =>
      Array.from({ length: 10 }, (_, i) => ({ data: `${round}/${i}`.padEnd(length, '+'), attributes: {} })),
    );
    for (const round of rounds.slice(0, 2)) await target.publish('results', round);
    await Promise.all(rounds.slice(2).map((round) => target.publish('results', round)));
    assert.deepEqual(
      (await received('results', 40)).map(({ data }) => data.toString()).sort(),
      rounds.flatMap((round) => round.map(({ data }) => data)).sort(),
    );
  });

  test('an own topic by its name; an ordering key keeps the order, also after a failure', async () => {
    const target = bus('500ms');
    fault = { kind: 'refuse', code: 7 };
    const failed = await target.publish({ name: 'own' }, [text('x', 'key')]);
    assert.ok(failed[0] instanceof TransientError);
    fault = undefined;
    const ids = await target.publish(
      { name: 'own' },
      ['1', '2', '3'].map((data) => text(data, 'key')),
    );
    assert.ok(
      ids.every((id) => typeof id === 'string'),
      String(ids),
    );
    assert.deepEqual(
      (await received('own', 3)).map(({ data }) => data.toString()),
      ['1', '2', '3'],
    );
  });

  test('a topic by its full name', async () => {
    const [id] = await bus().publish({ name: 'projects/local-project/topics/own' }, [text('a')]);
    assert.deepEqual(
      (await received('own', 1)).map((message) => message.id),
      [id],
    );
  });

  test('one call with several ordering keys and none; attributes and keys that look like placeholders', async () => {
    const key = '{{projectId}}';
    const messages = [text('1', key), text('2'), text('3', 'b'), text(key, key), text('4', key)];
    const ids = await bus().publish({ name: 'own' }, messages);
    assert.ok(ids.every((id) => typeof id === 'string'));
    assert.equal(calls, 3);
    const arrived = new Map((await received('own', 5)).map((message) => [message.id, message]));
    assert.deepEqual(
      ids.map((id) => {
        const { data, attributes, orderingKey } = arrived.get(id)!;
        return [data.toString(), attributes, orderingKey];
      }),
      messages.map(({ data, attributes, orderingKey }) => [data, attributes, orderingKey ?? '']),
    );
  });

  test('a refused message of an ordering key costs the others nothing', async () => {
    const bad = { ...text('2', 'key'), attributes: { long: 'x'.repeat(2000) } };
    const outcomes = await bus().publish({ name: 'own' }, [text('1', 'key'), bad, text('3', 'key')]);
    assert.ok(outcomes[1] instanceof PermanentError);
    assert.deepEqual(
      (await received('own', 2)).map(({ id, data }) => [id, data.toString()]),
      [
        [outcomes[0], '1'],
        [outcomes[2], '3'],
      ],
    );
  });

  test('what follows a failure under an ordering key is not sent', async () => {
    fault = { kind: 'refuse', code: 7 };
    const outcomes = await bus('500ms').publish(
      { name: 'own' },
      Array.from({ length: 1001 }, (_, i) => text(String(i), 'key')),
    );
    assert.ok(outcomes.every((outcome) => outcome instanceof TransientError));
    assert.equal(calls, 1);
  });

  test('a short outage is bridged inside the deadline', async () => {
    fault = { kind: 'refuse' };
    const publishing = bus().publish('results', [text('a')]);
    while (calls < 2) await new Promise((resolve) => setImmediate(resolve));
    fault = undefined;
    assert.equal(typeof (await publishing)[0], 'string');
  });

  test('without an answer the outcome is in doubt', async () => {
    for (const one of [{ kind: 'lose_answer' }, { kind: 'delay', ms: 1000 }] as const) {
      fault = one;
      const [result] = await bus('300ms').publish('results', [text('b')]);
      assert.ok(result instanceof AmbiguousError, String(result));
    }
  });

  test('a missing topic and an invalid message', async () => {
    const [missing] = await bus().publish({ name: 'nowhere' }, [text('c')]);
    assert.ok(missing instanceof TransientError, String(missing));
    const [invalid] = await bus().publish('results', [{ data: 'd', attributes: { long: 'x'.repeat(2000) } }]);
    assert.ok(invalid instanceof PermanentError && invalid.code === 'message_refused', String(invalid));
    assert.deepEqual(await bus().publish('results', []), []);
  });
});
