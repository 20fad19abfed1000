import { hasEffect, type Call, type Fault } from './faults.ts';
import { permutations, type Scenario } from './scenarios.ts';
import { play, type Story } from './story.ts';
import type { World } from './world.ts';

/** Faults of single points. A call that only looks has no answer worth losing apart from a refusal. */
const ALWAYS: readonly Fault[] = [{ kind: 'refused' }, { kind: 'crash before' }, { kind: 'stalled', ms: 95_000 }];
const WITH_EFFECT: readonly Fault[] = [
  { kind: 'answer lost' },
  { kind: 'crash after' },
  { kind: 'answered late', ms: 95_000 },
  { kind: 'happens later', ms: 95_000 },
  { kind: 'never arrived' },
];

/** What a task can meet as it fires. */
const FIRING: readonly Fault[] = [
  { kind: 'lost' },
  { kind: 'twice', ms: 0 },
  { kind: 'twice', ms: 150_000 },
  { kind: 'stalled', ms: 150_000 },
];
const HALVES: readonly Fault[] = [{ kind: 'partly', part: 'first' }, { kind: 'partly', part: 'last' }]; // prettier-ignore

/** What is tried at a single point. */
function faultsAt(call: Call): readonly Fault[] {
  if (call.port === 'queue') return FIRING.slice(call.entry === 'poll' ? 0 : 1);
  const halves = (call.parts ?? 1) > 1 ? HALVES : [];
  if (hasEffect(call)) return [...ALWAYS, ...WITH_EFFECT, ...halves];
  return call.port === 'probes' ? [...ALWAYS, { kind: 'answered late', ms: 40_000 }] : ALWAYS;
}

/** What is tried at each of two points. */
function pairedAt(call: Call): readonly Fault[] {
  if (call.port === 'queue') return FIRING.slice(call.entry === 'poll' ? 0 : 1, 3);
  return [...ALWAYS.slice(0, 2), ...WITH_EFFECT.slice(0, 2)];
}

/** The points of a run where a fault can tell something: what sweep does while nothing is due cannot. */
function pointsOf(world: World): readonly Call[] {
  const { callsMade, plan } = world;
  const last = callsMade.findLastIndex(({ method }) => method === (plan.join ? 'publish' : 'commit'));
  const entries = plan.join ? ['join'] : ['ingest', 'finish', 'sweep', 'submit', 'poll'];
  return callsMade.slice(0, last + 1).filter(({ entry, method }) => method !== 'due' && entries.includes(entry));
}

async function tryFaults(scenario: Scenario, story: Story, faults: ReadonlyMap<number, Fault>): Promise<World> {
  try {
    return await play({ ...story, instances: 2, fault: ({ index }) => faults.get(index) });
  } catch (error) {
    const where = [...faults].map(([index, fault]) => `call ${index} ${JSON.stringify(fault)}`).join(', ');
    const order = story.messages.map((message) => JSON.stringify(message)).join('\n  ');
    throw new Error(`${scenario.name}: ${where}, messages\n  ${order}`, { cause: error });
  }
}

/** Every fault at every `step`-th single point, for every order of the messages. Returns how many runs that were. */
export async function everySingle(scenario: Scenario, step = 1): Promise<number> {
  let [runs, points] = [0, 0];
  for (const story of permutations(scenario.story)) {
    for (const call of pointsOf(await tryFaults(scenario, story, new Map()))) {
      if (points++ % step !== 0) continue;
      for (const fault of faultsAt(call)) {
        await tryFaults(scenario, story, new Map([[call.index, fault]]));
        runs++;
      }
    }
  }
  return runs;
}

/**
 * Every pair of points: with `every`, all kinds of faults on both; without, the kinds take turns. The second point is one
 * of the run with the first fault.
 */
export async function everyPair(scenario: Scenario, every: boolean): Promise<number> {
  let runs = 0;
  const { story } = scenario;
  for (const first of pointsOf(await tryFaults(scenario, story, new Map()))) {
    for (const [i, one] of pairedAt(first).entries()) {
      if (!every && i !== first.index % pairedAt(first).length) continue;
      const world = await tryFaults(scenario, story, new Map([[first.index, one]]));
      for (const second of pointsOf(world).filter(({ index }) => index > first.index)) {
        for (const [j, other] of pairedAt(second).entries()) {
          if (!every && j !== (first.index * 3 + second.index) % pairedAt(second).length) continue;
          await tryFaults(scenario, story, new Map([[first.index, one], [second.index, other]])); // prettier-ignore
          runs++;
        }
      }
    }
  }
  return runs;
}
