import assert from 'node:assert/strict';
import { AmbiguousError, PermanentError, TransientError } from '../../functions/core/errors.ts';
import type { Message } from '../../functions/ports.ts';
import { fresh, observe, type Contract, type World } from './world.ts';

const message = (text: string, more: Partial<Message> = {}): Message => ({ data: text, attributes: {}, ...more });

/** The texts of the messages of a topic that begin like this. */
async function texts(world: World, topic: string, prefix: string): Promise<string[]> {
  const all = (await world.published(topic)).map(({ data }) => Buffer.from(data).toString());
  return all.filter((text) => text.startsWith(prefix));
}

const ILLEGAL: Readonly<Record<string, Partial<Message>>> = {
  'nothing in it': { data: '' },
  'more than 10 MB': { data: new Uint8Array(10_000_001) },
  'an attribute that is too long': { attributes: { a: 'x'.repeat(1025) } },
  'the name of an attribute that is too long': { attributes: { ['x'.repeat(257)]: 'a' } },
  'the name of an attribute that is Google’s': { attributes: { googclient: 'a' } },
  'more than 100 attributes': { attributes: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`a${i}`, ''])) },
  'an ordering key that is too long': { orderingKey: 'x'.repeat(1025) },
};

export const BUS: Contract = {
  'bytes, attributes and ordering key arrive as they were, under ids of their own': async (world) => {
    const bytes = new Uint8Array([0, 255, 0x7b, 10]);
    const sent = [
      { data: bytes, attributes: { ключ: '値', n: fresh() } },
      { data: 'é😀', attributes: {}, orderingKey: fresh() },
    ];
    const ids = await world.bus.publish('completions', sent);
    assert.equal(new Set(ids).size, 2);
    assert.ok(ids.every((id) => typeof id === 'string' && id !== ''));
    const found = (await world.published('completions')).map((one) => ({ ...one, data: Buffer.from(one.data).toString('hex') })); // prettier-ignore
    for (const one of sent) {
      const expected = { ...one, data: Buffer.from(one.data).toString('hex') };
      assert.ok(found.some((other) => JSON.stringify(other) === JSON.stringify(expected)));
    }
  },

  'nothing to publish is no call; a topic of its own goes by its name': async (world) => {
    assert.deepEqual(await world.bus.publish('results', []), []);
    const text = fresh();
    await world.bus.publish({ name: 'results' }, [message(text)]);
    assert.deepEqual(await texts(world, 'results', text), [text]);
  },

  'messages of one ordering key arrive in their order': async (world) => {
    const key = `${fresh()}-`;
    const sent = Array.from({ length: 30 }, (_, i) => `${key}${i}`);
    await world.bus.publish('summaries', sent.map((text) => message(text, { orderingKey: key }))); // prettier-ignore
    assert.deepEqual(await texts(world, 'summaries', key), sent);
  },

  ...Object.fromEntries(
    Object.entries(ILLEGAL).map(([what, illegal]) => [
      `a message with ${what} is refused for good, and its neighbours are published`,
      async (world: World) => {
        const name = `${fresh()}-`;
        const [before, refused, after] = await world.bus.publish('events', [
          message(`${name}1`),
          message(`${name}x`, illegal),
          message(`${name}2`),
        ]);
        assert.ok(refused instanceof PermanentError && refused.code === 'message_refused', String(refused));
        assert.deepEqual([typeof before, typeof after], ['string', 'string'], String(before));
        assert.deepEqual((await texts(world, 'events', name)).sort(), [`${name}1`, `${name}2`]);
      },
    ]),
  ),

  'the limits themselves are legal': async (world) => {
    const name = fresh();
    const [id] = await world.bus.publish('events', [
      { data: name, attributes: { ['x'.repeat(256)]: 'y'.repeat(1024) }, orderingKey: 'z'.repeat(1024) },
    ]);
    assert.equal(typeof id, 'string', String(id));
  },

  'a publish that was refused has no effect': async (world) => {
    const text = fresh();
    world.trouble('bus', 'refused');
    const [error] = await world.bus.publish('deadLetters', [message(text)]);
    world.calm();
    assert.ok(error instanceof TransientError, String(error));
    assert.deepEqual(await texts(world, 'dead-letters', text), []);
  },

  'a publish that never arrived has no effect': async (world) => {
    const text = fresh();
    world.trouble('bus', 'never arrived');
    const [error] = await world.bus.publish('results', [message(text)]);
    world.calm();
    const copies = (await texts(world, 'results', text)).length;
    observe(world, 'bus: request that never arrived', `${(error as Error).name}, ${copies === 0 ? 'no effect' : 'done'}`); // prettier-ignore
  },

  'a publish whose answer is lost once has its effect': async (world) => {
    const text = fresh();
    world.trouble('bus', 'answer lost', 1);
    const [result] = await world.bus.publish('results', [message(text)]);
    world.calm();
    const copies = (await texts(world, 'results', text)).length;
    observe(world, 'bus: answer lost once', `${copies}, ${result instanceof Error ? result.name : 'published'}`);
  },

  'a publish whose every answer is lost is in doubt, and each message says so': async (world) => {
    const text = `${fresh()}-`;
    world.trouble('bus', 'answer lost');
    const results = await world.bus.publish('results', [message(`${text}1`), message(`${text}2`)]);
    world.calm();
    assert.ok(results.every((one) => one instanceof AmbiguousError));
    assert.deepEqual(new Set(await texts(world, 'results', text)), new Set([`${text}1`, `${text}2`]));
  },
};
