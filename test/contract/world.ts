import assert from 'node:assert/strict';
import type { EventRow, Micros } from '../../functions/core/event.ts';
import { toError } from '../../functions/core/errors.ts';
import type { Bus, Message, Store, Table, Tasks, Warehouse } from '../../functions/ports.ts';
import { CAPABILITIES, type CapabilityId, type Side } from './capabilities.ts';

export type PortName = 'store' | 'bus' | 'events' | 'tasks' | 'warehouse';

/**
 * What goes wrong with the calls that have an effect (commit, publish, append, create, start): they are refused for sure;
 * they fail so that nobody can know that they did not arrive; or they happen and their answer is lost.
 */
export type Trouble = 'refused' | 'never arrived' | 'answer lost';

/** One set of ports, and what only somebody behind them sees. */
export interface World {
  readonly side: Side;
  readonly store: Store;
  readonly bus: Bus;
  readonly events: Table<EventRow>;
  readonly tasks: Tasks;
  readonly warehouse: Warehouse;
  /** The next calls of a port meet trouble, `times` of them. */
  trouble(port: PortName, trouble: Trouble, times?: number): void;
  /** Nothing goes wrong any more. */
  calm(): void;
  readonly now: () => Micros;
  advance(micros: Micros): void;
  /** Messages of a topic, in the order of their arrival. */
  published(topic: string): Promise<readonly Message[]>;
  /** Names of the tasks that have gone out, once this one has. */
  readonly sent: (name: string) => Promise<readonly string[]>;
  /** Tasks that are created from now on are accepted and lost, or not. */
  loseTasks(lost: boolean): void;
  /** Appended rows by their commit times, epoch microseconds. */
  commits(): Promise<readonly { readonly time: Micros; readonly id: string }[]>;
  /** A row of the reference table. */
  reference(joinKey: string, attribute: string): Promise<void>;
  /** Whether jobs end while somebody waits for them; where statements are executed, it takes one that is slow. */
  endJobs(ending: boolean): void;
  /** The results of all jobs expire. */
  expireResults(): void;
  stop(): Promise<void>;
}

/** A property that holds for every implementation of a port. */
export type Property = (world: World) => Promise<void>;
export type Contract = Readonly<Record<string, Property>>;

/** What was seen, by side. */
export const observed: Readonly<Record<Side, Set<CapabilityId>>> = { fake: new Set(), local: new Set() };

/** What was seen is what the table of capabilities declares for this side. */
export function observe({ side }: World, id: CapabilityId, value: string): void {
  observed[side].add(id);
  assert.equal(value, CAPABILITIES[id][side], id);
}

/** The error of a call that has to fail. */
export async function failure(call: Promise<unknown>): Promise<Error> {
  try {
    await call;
  } catch (thrown) {
    return toError(thrown);
  }
  throw new assert.AssertionError({ message: 'the call did not fail' });
}

let names = 0;

/** A name that no other property uses. */
export function fresh(): string {
  return `n${++names}`;
}
