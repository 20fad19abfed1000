import { cancel, publish, submit, watchFor, type Story } from './story.ts';

/** Small worlds whose every fault point, and every pair, is tried. Messages of one moment come in every order. */
export interface Scenario {
  readonly name: string;
  readonly story: Story;
}

const LATE = 120_000;
const BAD = { raw: '{"event_status":"started","timestamp":"2024-01-05T10:00:00Z"}', reason: 'missing_key' };

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'three events and a completion',
    story: { messages: [publish('e1'), publish('e2'), publish('e3'), publish('z4')], settings: { IDS_INLINE: '2' } },
  },
  {
    name: 'completion first, then the numbers that were missing',
    story: {
      messages: [
        publish('z3', { sequence: 3 }),
        publish('e1', { sequence: 1, at: 1000 }),
        publish('e2', { sequence: 2, at: 1000 }),
      ],
    },
  },
  {
    name: 'two completions with different totals',
    story: {
      messages: [publish('e1', { sequence: 1 }), publish('z2', { sequence: 2 }), publish('z3', { sequence: 3 })],
    },
  },
  { name: 'a late event', story: { messages: [publish('e1'), publish('z2'), publish('e3', { at: LATE })] } },
  { name: 'a key that never completes', story: { messages: [publish('e1'), publish('e2')] } },
  {
    name: 'two keys in one group and a repeat',
    story: {
      messages: [publish('z1', { key: 'a' }), publish('z1', { key: 'b' }), publish('z1', { key: 'a' })],
      settings: { GROUP_KEYS: '20' },
    },
  },
  { name: 'a watch that becomes ready', story: { messages: [watchFor('w1', { readyAt: 30_000 })] } },
  {
    name: 'a watch that becomes ready as it times out',
    story: { messages: [watchFor('w1', { readyAt: 60_000, interval: 25, timeout: 60, completes: true })] },
  },
  {
    name: 'a cancellation that races readiness',
    story: { messages: [watchFor('w1', { readyAt: 15_000, interval: 15, by: 'post' }), cancel('w1', 15_000)] },
  },
  {
    name: 'a watch that two ask for, and one for another under its id',
    story: {
      messages: [
        watchFor('w1', { timeout: 40 }),
        watchFor('w1', { timeout: 40, by: 'post' }),
        watchFor('w1', { timeout: 41, by: 'post', at: 1000 }),
      ],
    },
  },
  {
    name: 'a batch with one bad event',
    story: { messages: [submit('call', publish('e1'), BAD, publish('z2')), publish('e3')] },
  },
  {
    name: 'a task with events of two keys',
    story: {
      messages: [submit('task', publish('z1', { key: 'a' }), publish('e1', { key: 'b' }), publish('z2', { key: 'b' }))],
      settings: { GROUP_KEYS: '20' },
    },
  },
  {
    name: 'a join over two windows',
    story: {
      join: true,
      settings: { JOIN_WAIT: '1m' },
      messages: [
        publish('e0', { joinKey: 'known' }),
        publish('e6', { joinKey: 'known' }),
        publish('z12', { joinKey: 'known', at: 200_000 }),
      ],
    },
  },
];

/** Every order of the messages of the first moment; the later ones stay. */
export function permutations(story: Story): Story[] {
  const first = story.messages.filter(({ at }) => at === 0);
  const later = story.messages.filter(({ at }) => at > 0);
  return orders(first).map((order) => ({ ...story, messages: [...order, ...later] }));
}

function orders<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, i) => orders(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}
