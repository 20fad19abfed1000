import type { JoinSettings } from '../core/join/settings.ts';
import type { Tables } from '../core/join/sql.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { Ports } from '../ports.ts';

/** What one run of a join works with. */
export interface JoinContext {
  readonly join: JoinSettings;
  readonly tables: Tables;
  readonly config: Config;
  readonly ports: Pick<Ports, 'clock' | 'ids' | 'store' | 'bus' | 'warehouse'>;
  readonly log: Log;
}
