import type { Config } from './config.ts';
import type { Handler } from './http/handler.ts';
import type { Log } from './log.ts';
import type { Ports } from './ports.ts';

export type PortName = keyof Ports;

/** What an entry module is given, once per instance: the ports it said it uses, and nothing else. */
export interface Runtime<Used extends PortName = PortName> {
  readonly config: Config;
  readonly ports: Pick<Ports, Used>;
  /** For lines outside a request. */
  readonly log: Log;
}

/** What an entry module exports. */
export interface EntryPoint<Used extends PortName = PortName> {
  readonly uses: readonly Used[];
  /** The handler takes bodies as they come; no parser of the framework may refuse one first. */
  readonly rawBodies?: true;
  create(runtime: Runtime<Used>): Handler;
}
