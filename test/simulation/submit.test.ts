import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HttpAnswer } from '../../functions/http/handler.ts';
import type { Call } from './faults.ts';
import { is, once, play, publish, submit, summariesOf, type Story } from './story.ts';
import type { World } from './world.ts';

const BAD = { raw: '{"event_status":"started","timestamp":"2024-01-05T10:00:00Z"}', reason: 'missing_key' };

/** Plays a story; what each request was answered, in order. */
async function answersTo(story: Story): Promise<{ world: World; answers: string[] }> {
  const answers: string[] = [];
  const world = await play({
    ...story,
    prepare: (one) => {
      const { watcher } = one;
      const answered = watcher.answered.bind(watcher);
      watcher.answered = (planned, answer) => {
        answers.push(shown(answer));
        answered(planned, answer);
      };
    },
  });
  return { world, answers };
}

function shown({ status, body }: HttpAnswer): string {
  const { results } = body as { results: readonly { outcome: string; code?: string }[] };
  return [status, ...results.map(({ outcome, code }) => code ?? outcome)].join(' ');
}

const ofKey = (key: string) => (call: Call) => is('submit store.commit')(call) && call.resource.includes(`-${key}`);

describe('a request under faults', () => {
  it('a batch with one bad event and a lost answer: each event is answered for itself, and nothing counts twice', async () => {
    const { world, answers } = await answersTo({
      messages: [submit('call', publish('e1'), BAD, publish('z2'))],
      // Everything is stored, and the instance dies before it says so.
      fault: once(is('submit bus.publish'), { kind: 'crash after' }, 2),
    });
    assert.deepEqual(answers, ['200 repeated missing_key repeated']);
    assert.deepEqual(summariesOf(world), ['1 finished complete 2']);
  });

  it('while the fate of one event is open the request is not done, and the others are told theirs', async () => {
    const { world, answers } = await answersTo({
      messages: [submit('call', publish('z1', { key: 'a' }), publish('z1', { key: 'b' }))],
      fault: once(ofKey('b'), { kind: 'refused' }),
    });
    assert.deepEqual(answers, ['503 stored unavailable', '200 repeated stored']);
    assert.deepEqual([summariesOf(world, 'a'), summariesOf(world, 'b')].flat(), Array(2).fill('1 finished complete 1'));
  });

  it('a task that fires twice is stored once', async () => {
    const { world, answers } = await answersTo({
      messages: [submit('task', publish('e1'), publish('z2'))],
      instances: 2,
      fault: once(is('submit queue.fire'), { kind: 'twice', ms: 3000 }),
    });
    assert.deepEqual(answers, ['200 stored stored', '200 repeated repeated']);
    assert.deepEqual(summariesOf(world), ['1 finished complete 2']);
  });

  it('a bad event that a task brought is a dead letter, also after its letter was refused', async () => {
    const { answers } = await answersTo({
      messages: [submit('task', BAD)],
      fault: once(is('submit bus.publish'), { kind: 'refused' }),
    });
    assert.deepEqual(answers, ['503 unavailable', '200 missing_key']);
  });

  it('a task that fails to its last attempt is a dead letter with its cause', async () => {
    const { world, answers } = await answersTo({
      messages: [submit('task', publish('z1'))],
      settings: { MAX_DELIVERY_ATTEMPTS: '5' },
      fault: (call) => (is('submit events.append')(call) ? { kind: 'refused' } : undefined),
    });
    assert.deepEqual(answers, [...Array<string>(4).fill('503 unavailable'), '200 delivery_attempts_exhausted']);
    const [letter] = world.bus.published('deadLetters');
    assert.equal(letter!.attributes['cause'], 'unavailable');
  });
});
