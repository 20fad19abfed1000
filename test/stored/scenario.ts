import type { World } from './world.ts';

/** A state that something stored can be in, and what has to become of it, whatever version of the code goes on. */
export interface Scenario {
  /** Settings under which the state came about; it is ended under the defaults. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Brings a new world into the state. */
  readonly prepare: (world: World) => Promise<void>;
  /** Each goes on from the state as it was stored, and checks what came of it. */
  readonly endings: Readonly<Record<string, (world: World) => Promise<void>>>;
}
