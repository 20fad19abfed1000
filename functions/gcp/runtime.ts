import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { Clock, Ports } from '../ports.ts';
import type { PortName, Runtime } from '../runtime.ts';

/** What an adapter is made of. */
export interface AdapterContext {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
}

/** How each port is made. The modules are loaded on demand: a client library costs a cold start tenths of a second. */
const ADAPTERS: {
  readonly [Name in PortName]: (context: AdapterContext) => Promise<Ports[Name]> | Ports[Name];
} = {
  clock: (context) => context.clock,
  ids: async () => (await import('./ids.ts')).createIds(),
  store: async (context) => (await import('./firestore-store.ts')).createStore(context),
  bus: async (context) => (await import('./pubsub-bus.ts')).createBus(context),
  events: async (context) => (await import('./storage-write.ts')).createEventsTable(context),
  summaries: async (context) => (await import('./storage-write.ts')).createSummariesTable(context),
  warehouse: async (context) => (await import('./warehouse.ts')).createWarehouse(context),
  tasks: async (context) => (await import('./cloud-tasks.ts')).createTasks(context),
  probes: async (context) => (await import('./probes.ts')).createProbes(context),
};

/** Loads the clients of the ports that an entry point uses. */
export async function createRuntime<Used extends PortName>(
  context: AdapterContext,
  uses: readonly Used[],
): Promise<Runtime<Used>> {
  const made = await Promise.all(uses.map(async (name) => [name, await ADAPTERS[name](context)] as const));
  return { config: context.config, log: context.log, ports: Object.fromEntries(made) as Pick<Ports, Used> };
}
