import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Message } from '../../functions/ports.ts';
import { forgetful, openLedger } from '../../scripts/redrive/ledger.ts';
import { parseOptions, UsageError } from '../../scripts/redrive/options.ts';
import { describePlan } from '../../scripts/redrive/report.ts';
import { plan, redrive, type Effects, type Ledger, type Rules } from '../../scripts/redrive/run.ts';
import { letter, letters, memoryLedger, sourceOf } from './fixture.ts';

const RULES: Rules = { limit: 3, topicOf: async () => ({ topic: 'events' }) };

/** Publishes into a list; time moves only by sleeping. */
function world(fail: (message: Message, n: number) => Error | null = () => null) {
  const published: string[] = [];
  const slept: number[] = [];
  let calls = 0;
  let now = 0;
  const effects: Effects = {
    publish: async (_topic, messages) =>
      messages.map((message) => {
        const error = fail(message, calls++);
        if (error !== null) return error;
        published.push(Buffer.from(message.data).toString());
        return 'id';
      }),
    now: () => now,
    sleep: async (ms) => {
      slept.push(ms);
      now += ms;
    },
    progress: () => undefined,
  };
  return { effects, published, slept };
}

describe('redrive', () => {
  test('publishes each once, not faster than told', async () => {
    const { effects, published, slept } = world();
    const all = letters(25);
    // Pub/Sub may write a row twice.
    const source = sourceOf([...all, all[3]!, ...all.slice(20)]);
    assert.deepEqual(await redrive(source, RULES, memoryLedger(), 10, effects), {
      published: 25,
      failed: 0,
      error: null,
    });
    assert.deepEqual(
      published,
      all.map((_, i) => String(i)),
    );
    assert.equal(Math.round(slept.reduce((sum, ms) => sum + ms, 0)), 2500);
  });

  test('a crash at any moment loses none; only the last batch may be repeated', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(40), fc.boolean(), fc.integer({ min: 1, max: 9 }), async (at, noted, size) => {
        const ledger = memoryLedger();
        let adds = 0;
        const crashing: Ledger = {
          has: (id) => ledger.has(id),
          async add(ids) {
            const crash = adds++ === at;
            if (!crash || noted) await ledger.add(ids);
            if (crash) throw new Error('crash');
          },
        };
        const { effects, published } = world();
        await redrive(sourceOf(letters(30)), RULES, crashing, size, effects).catch(() => undefined);
        await redrive(sourceOf(letters(30)), RULES, ledger, size, effects);
        assert.equal(new Set(published).size, 30);
        assert.ok(published.length - 30 <= (noted ? 0 : size));
      }),
    );
  });

  test('what fails is taken again by the next run; when all fail, it ends', async () => {
    const ledger = memoryLedger();
    const odd = world((_, n) => (n % 2 === 1 ? new Error('refused') : null));
    const { published, failed, error } = await redrive(sourceOf(letters(10)), RULES, ledger, 100, odd.effects);
    assert.deepEqual([published + failed, error?.message], [10, 'refused']);
    const next = world();
    assert.equal((await redrive(sourceOf(letters(10)), RULES, ledger, 100, next.effects)).published, failed);
    const down = world(() => new Error('down'));
    assert.equal((await redrive(sourceOf(letters(100)), RULES, memoryLedger(), 5, down.effects)).failed, 5);
  });

  test('leaves alone: done, redriven too often, without a topic; the plan says so', async () => {
    const ledger = memoryLedger();
    const often = letter({ messageId: 'often', attributes: { reason: 'missing_key', redriven: '3' } });
    const lost = letter({ messageId: 'lost' });
    const joined = letter({ messageId: 'joined' });
    const done = letter({ messageId: 'done' });
    await ledger.add([`${done.publishTime}/done`]);
    const rules: Rules = {
      ...RULES,
      topicOf: async (one) =>
        one === lost ? { skipped: 'unknown_origin' } : one === joined ? { skipped: 'joined' } : { topic: 'events' },
    };
    const source = sourceOf([often, lost, joined, done, letter({ messageId: 'good' })]);
    const counted = await plan(source, rules, ledger);
    assert.deepEqual(
      [counted.messages, counted.bytes, Object.fromEntries(counted.groups), Object.fromEntries(counted.skipped)],
      [1, 1000, { 'missing_field -> events': 1 }, { limit: 1, unknown_origin: 1, joined: 1, done: 1 }],
    );
    assert.match(describePlan(counted, 2 ** 40), /^1 dead letters[^]*1 {2}left alone: redriven too often[^]*\$6\.25/);
    const { effects, published } = world();
    assert.equal((await redrive(source, rules, forgetful(ledger), 10, effects)).published, 2);
    assert.equal(published.length, 2);
  });
});

test('the ledger survives, also a line that was cut off', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'codaflow-redrive-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'deep', 'ids');
  await (await openLedger(file)).add(['1/a', '2/b']);
  assert.ok((await openLedger(file)).has('2/b'));
  writeFileSync(file, '1/a\n2/');
  const cut = await openLedger(file);
  assert.deepEqual([cut.has('1/a'), cut.has('2/b')], [true, false]);
  await cut.add(['2/b']);
  assert.ok((await openLedger(file)).has('2/b'));
});

test('the command line', () => {
  const { rate, from, reason, project } = parseOptions(['--rate', '5', '--from', '2024-01-05T10:00:00Z', '--reason=none']) as Exclude<ReturnType<typeof parseOptions>, 'help'>; // prettier-ignore
  assert.deepEqual([rate, from, reason, project], [5, 1_704_448_800_000_000, 'none', null]);
  for (const bad of [['--rate', '0'], ['--from', 'yesterday'], ['--speed', '1'], ['x'], ['--dataset', 'a;b']]) {
    assert.throws(() => parseOptions(bad), UsageError, bad.join(' '));
  }
});
