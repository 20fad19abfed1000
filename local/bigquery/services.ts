import type { Faults } from '../shared/faults.ts';
import type { Meter } from '../shared/meter.ts';
import type { Appends } from './append.ts';
import type { Catalog } from './catalog.ts';
import type { CommitClock } from './clock.ts';
import type { Engine } from './engine.ts';
import type { Jobs } from './jobs.ts';
import type { Streaming } from './streaming.ts';

/** The parts that the REST and the gRPC interface share. */
export interface Services {
  readonly catalog: Catalog;
  readonly appends: Appends;
  readonly engine: Engine;
  readonly jobs: Jobs;
  readonly streaming: Streaming;
  readonly clock: CommitClock;
  readonly faults: Faults;
  readonly meter: Meter;
  /** Location of what names none. */
  readonly location: string;
}
