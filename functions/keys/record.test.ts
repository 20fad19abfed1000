import fc from 'fast-check';
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { fakeClock, requestEnd, type FakeClock } from '../../test/fakes/clock.ts';
import type { Gate, PortCall } from '../../test/fakes/gate.ts';
import { event, eventSet, SETTINGS } from '../../test/fakes/keys.ts';
import { FakeStore, sizeOf } from '../../test/fakes/store.ts';
import { AmbiguousError, TransientError } from '../core/errors.ts';
import type { Event } from '../core/event.ts';
import { documentId } from '../core/ids.ts';
import { readState, sequencePath } from './documents.ts';
import { completionMessage, createRecorder } from './record.ts';

let clock: FakeClock;
let store: FakeStore;
/** What the next calls of the store meet; see `gate`. */
let trouble: (call: PortCall, when: 'before' | 'after') => Error | null;
const gate: Gate = {
  before: async (call) => raise(trouble(call, 'before')),
  after: async (call) => raise(trouble(call, 'after')),
};

function raise(error: Error | null): void {
  if (error !== null) throw error;
}

function recorder(changes: Partial<typeof SETTINGS> = {}, from = store.port(gate)) {
  const made = createRecorder({ store: from, clock }, { ...SETTINGS, ...changes });
  return { record: (events: readonly Event[]) => made.record(events, requestEnd(clock)) };
}

const stateOf = (key: string) => readState(store.read(sequencePath(key)))!;
const kinds = (outcomes: readonly { readonly kind: string }[]) => outcomes.map(({ kind }) => kind);

beforeEach(() => {
  clock = fakeClock();
  store = new FakeStore();
  trouble = () => null;
});

describe('recording', () => {
  it('answers in the order of the events, whatever keys they have', async () => {
    const { outcomes, due } = await recorder().record([
      event({ uniqueKey: 'b', eventId: '1' }),
      event({ uniqueKey: 'a', eventId: '1', eventStatus: 'completed' }),
      event({ uniqueKey: 'b', eventId: '1' }),
      event({ uniqueKey: 'b', eventId: '1', eventStatus: 'other' }),
      event({ uniqueKey: 'b', eventId: '2' }),
    ]);
    assert.deepEqual(kinds(outcomes), ['recorded', 'recorded', 'repeated', 'conflict', 'recorded']);
    assert.deepEqual(due, [{ uniqueKey: 'a', id: documentId('a') }]);
    assert.equal(stateOf('b').fold.count, 2);
    assert.deepEqual(await recorder().record([]), { outcomes: [], due: [] });
  });

  it('reports a due key after a repeat too, until somebody claims it', async () => {
    const completed = event({ eventId: '1', eventStatus: 'completed' });
    await recorder().record([completed]);
    let commits = 0;
    store.onCommit = () => void commits++;
    const again = await recorder().record([completed]);
    assert.deepEqual(kinds(again.outcomes), ['repeated']);
    assert.equal(again.due.length, 1);
    assert.equal(commits, 0, 'a repeat writes nothing');
  });

  it('counts three deliveries at once as one event', async () => {
    const one = event({ eventId: '1' });
    const results = await Promise.all([1, 2, 3].map(() => recorder().record([one])));
    const all = results.flatMap(({ outcomes }) => kinds(outcomes)).sort();
    assert.deepEqual(all, ['recorded', 'repeated', 'repeated']);
    assert.equal(stateOf('k').fold.count, 1);
  });

  it('recognises an event whose commit went through though the answer was lost', async () => {
    let lost = 1;
    trouble = ({ method }, when) =>
      method === 'commit' && when === 'after' && lost-- > 0 ? new AmbiguousError('lost') : null;
    const { outcomes } = await recorder().record([event({ eventId: '1' }), event({ eventId: '2' })]);
    assert.deepEqual(kinds(outcomes), ['repeated', 'repeated']);
    assert.equal(stateOf('k').fold.count, 2);
  });

  it('never lets one key take its neighbours with it', async () => {
    await recorder().record([event({ uniqueKey: 'bad', eventId: '0' })]);
    const path = sequencePath('bad');
    await store.port().transaction(async (tx) => {
      const [document] = await tx.get([path]);
      tx.set(path, { ...document, v: 99 });
    });
    const keys = ['a', 'bad', 'c', 'd'];
    const { outcomes } = await recorder().record(keys.map((uniqueKey) => event({ uniqueKey, eventId: '1' })));
    assert.deepEqual(kinds(outcomes), ['recorded', 'failed', 'recorded', 'recorded']);
    const [, bad] = outcomes;
    assert.ok(bad?.kind === 'failed' && bad.error instanceof TransientError);
  });

  it('gives up after a few attempts and says so', async () => {
    let commits = 0;
    trouble = ({ method }, when) => {
      if (method !== 'commit' || when !== 'before') return null;
      commits++;
      return new TransientError('contention', 'somebody interfered');
    };
    const { outcomes, due } = await recorder().record([event({ eventId: '1', eventStatus: 'completed' })]);
    assert.ok(outcomes[0]?.kind === 'failed' && outcomes[0].error instanceof TransientError);
    assert.deepEqual(due, []);
    assert.equal(commits, 4);
    trouble = () => new TransientError('unavailable', 'down');
    assert.deepEqual(kinds((await recorder().record([event({ eventId: '1' })])).outcomes), ['failed']);
  });
});

describe('ids past the inline bound', () => {
  it('have documents, are recognised, and conflict, like the others', async () => {
    const few = recorder({ idsInline: 3 });
    const events = Array.from({ length: 10 }, (_, i) => event({ eventId: `e${i}` }));
    await few.record(events.slice(0, 2));
    await few.record(events.slice(2, 6));
    await few.record(events.slice(6));
    assert.equal(store.dump().size, 1 + 7);
    const repeats = await few.record([...events, event({ eventId: 'e9', eventStatus: 'other' })]);
    assert.deepEqual(kinds(repeats.outcomes), [...events.map(() => 'repeated'), 'conflict']);
    // Also where the bound was moved in between.
    const more = await recorder({ idsInline: 100 }).record([...events, event({ eventId: 'new' })]);
    assert.deepEqual(kinds(more.outcomes), [...events.map(() => 'repeated'), 'recorded']);
    assert.equal(stateOf('k').fold.count, 11);
    for (const [path, document] of store.dump()) {
      if (path.includes('/ids/')) assert.ok(Number(document['expire_at']) >= clock.now() + SETTINGS.retention);
      assert.ok(sizeOf(document) < 4096);
    }
  });

  it('of a former life are forgotten with it', async () => {
    const few = recorder({ idsInline: 0 });
    await few.record([event({ eventId: '1' })]);
    await store.port().transaction(async (tx) => tx.delete(sequencePath('k')));
    clock.advance(1);
    assert.deepEqual(kinds((await few.record([event({ eventId: '1' })])).outcomes), ['recorded']);
  });

  it('give the same outcomes as inline ids', async () => {
    await fc.assert(
      fc.asyncProperty(
        eventSet(12),
        fc.array(fc.nat(), { maxLength: 30 }),
        fc.nat({ max: 4 }),
        async (events, picks, bound) => {
          const stores = [new FakeStore(), new FakeStore()] as const;
          const [inline, outside] = stores.map((one, i) => recorder({ idsInline: i === 0 ? 1000 : bound }, one.port()));
          for (let i = 0; i < picks.length; i += 3) {
            const group = picks.slice(i, i + 3).map((n) => events[n % events.length]!);
            assert.deepEqual(await outside!.record(group), await inline!.record(group));
          }
        },
      ),
    );
  });
});

describe('the hint about a due key', () => {
  it('names the key, within the limits of attributes', () => {
    const uniqueKey = 'é'.repeat(750);
    const { data, attributes } = completionMessage({ uniqueKey, id: documentId(uniqueKey) });
    assert.deepEqual(JSON.parse(data as string), { unique_key: uniqueKey });
    for (const value of Object.values(attributes)) assert.ok(Buffer.byteLength(value) <= 1024);
  });
});
