import assert from 'node:assert/strict';
import type { HttpAnswer } from '../../functions/http/handler.ts';
import { messageOf } from './messages.ts';
import type { PlannedMessage, SubmittedItem } from './plan.ts';
import type { Acceptance } from './watch.ts';
import type { World } from './world.ts';

interface Result {
  readonly event_id: string | null;
  readonly unique_key: string | null;
  readonly outcome: 'stored' | 'repeated' | 'rejected' | 'undecided';
  readonly code?: string;
}

type Submission = Extract<PlannedMessage, { submit: unknown }>;

/** Holds every answer of `submit` to what the stores hold in that moment. */
export function followAnswers(world: World, keys: Acceptance) {
  /** Events that somebody was told are new. */
  const stored = new Set<string>();
  /** The last final outcome of each text. */
  const final = new Map<string, string>();

  function checkItem(item: SubmittedItem, result: Result): void {
    const { data } = messageOf(item);
    const about = `${data} is answered ${result.outcome}`;
    if (result.outcome === 'undecided') return;
    if (result.outcome === 'rejected') {
      const letters = world.bus.published('deadLetters').filter((one) => Buffer.from(one.data).toString() === data);
      const reasons = letters.map(({ attributes }) => attributes['reason']);
      assert.ok(reasons.includes(result.code), `${about} ${result.code} and no dead letter says so`);
      // An event that could not be stored in time says nothing about its next repeat.
      if (result.code === 'delivery_attempts_exhausted') return;
    } else {
      assert.ok('event' in item && item.event.refused === undefined, about);
      const { key, id } = item.event;
      assert.deepEqual([result.unique_key, result.event_id], [key, id], about);
      keys.accepted(key, id);
      if (result.outcome === 'stored') {
        assert.ok(!stored.has(`${key} ${id}`), `${about} twice`);
        stored.add(`${key} ${id}`);
      }
    }
    const kind = result.outcome === 'rejected' ? 'rejected' : 'kept';
    assert.equal(final.get(data) ?? kind, kind, `${about} and was answered otherwise before`);
    final.set(data, kind);
  }

  return {
    answered({ submit, by }: Submission, { status, body }: HttpAnswer): void {
      const [only] = submit;
      if (status === 400) {
        const { code } = body as { code: string };
        assert.ok(
          by === 'call' && submit.length === 1 && 'raw' in only! && only.reason === code,
          `answered 400 ${code}`,
        );
        return;
      }
      assert.ok(status === 200 || status === 503, `answered ${status}`);
      const { results } = body as { results: readonly Result[] };
      assert.equal(results.length, submit.length, 'an event has no outcome');
      assert.equal(
        status === 503,
        results.some(({ outcome }) => outcome === 'undecided'),
        `${status} is a lie: ${JSON.stringify(results)}`,
      );
      results.forEach((result, index) => checkItem(submit[index]!, result));
    },
  };
}
