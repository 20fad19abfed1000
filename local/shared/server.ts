import type { Faults } from './faults.ts';
import type { Meter } from './meter.ts';

/** What every local server takes. */
export interface ServerOptions {
  /** Port on the loopback interface; 0 (the default) takes a free one. */
  readonly port?: number;
  /** Folder in which the state survives a restart; in memory when absent. */
  readonly stateDir?: string;
  readonly faults?: Faults;
  readonly meter?: Meter;
}

/** A running local server. */
export interface LocalServer {
  /** `127.0.0.1:port`. */
  readonly address: string;
  stop(): Promise<void>;
}
