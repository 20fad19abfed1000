import { BigQuery } from '@google-cloud/bigquery';
import { startBigQuery } from '../../local/bigquery/server.ts';
import type { BigQueryServer } from '../../local/bigquery/types.ts';
import { createTables } from '../../local/provision.ts';
import { DATASET, PROJECT } from '../../local/resources.ts';
import { loadConfig, type Config } from '../../functions/config.ts';
import { parseJoin, type JoinSettings } from '../../functions/core/join/settings.ts';
import { createWarehouse } from '../../functions/gcp/warehouse.ts';
import type { JoinContext } from '../../functions/join/context.ts';
import { runJoin, type JoinReport } from '../../functions/join/run.ts';
import type { LogEntry } from '../../functions/log.ts';
import type { Warehouse } from '../../functions/ports.ts';
import { Meter } from '../../local/shared/meter.ts';
import { FakeBus } from '../fakes/bus.ts';
import { OPEN, type Gate } from '../fakes/gate.ts';
import { FakeStore } from '../fakes/store.ts';

/** 2026-11-29T12:00:00Z. */
const START = Date.UTC(2026, 10, 29, 12) * 1000;

/**
 * A join on the local BigQuery through the real client, with the other ports in memory and a clock that the test moves.
 */
export class JoinCloud {
  readonly bigquery: BigQueryServer;
  readonly client: BigQuery;
  readonly bus = new FakeBus();
  readonly store = new FakeStore();
  readonly meter: Meter;
  readonly logs: LogEntry[] = [];
  readonly #time: { value: number };
  #ids = 0;

  private constructor(bigquery: BigQueryServer, client: BigQuery, meter: Meter, time: { value: number }) {
    this.bigquery = bigquery;
    this.client = client;
    this.meter = meter;
    this.#time = time;
  }
  static async start(): Promise<JoinCloud> {
    const time = { value: START };
    const meter = new Meter();
    const bigquery = await startBigQuery({ project: PROJECT, meter, clock: () => time.value });
    const client = new BigQuery({ projectId: PROJECT, apiEndpoint: `http://${bigquery.address}` });
    await createTables(client);
    return new JoinCloud(bigquery, client, meter, time);
  }

  get now(): number {
    return this.#time.value;
  }

  advance(seconds: number): void {
    this.#time.value += seconds * 1e6;
  }

  config(settings: Readonly<Record<string, string>> = {}): Config {
    return loadConfig({
      PROJECT_ID: PROJECT,
      DATASET,
      BIGQUERY_EMULATOR_HOST: `http://${this.bigquery.address}`,
      ...settings,
    });
  }

  /** Settings of a join whose SQL may use `${dataset}`. */
  join(name: string, query: string, file: Readonly<Record<string, unknown>> = {}): JoinSettings {
    const config = this.config();
    return parseJoin(name, query.replaceAll('${dataset}', `${PROJECT}.${DATASET}`), file, {
      topic: 'results',
      lookback: config.joinLookback,
      step: config.joinStep,
      lag: config.joinLag,
      wait: config.joinWait,
      maxBytesBilled: config.maxBytesBilled,
    });
  }

  async tick(
    join: JoinSettings,
    settings: Readonly<Record<string, string>> = {},
    gate: Gate = OPEN,
  ): Promise<JoinReport> {
    return runJoin(this.context(join, settings, gate));
  }

  /** What a run works with; the calls of its ports pass through the gate. */
  context(join: JoinSettings, settings: Readonly<Record<string, string>> = {}, gate: Gate = OPEN): JoinContext {
    const config = this.config(settings);
    const clock = {
      now: () => this.now,
      // Deadlines of the adapter never pass here; what ends them is the answer.
      sleep: (_ms: number, signal?: AbortSignal) =>
        signal === undefined
          ? Promise.resolve()
          : new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
    };
    const log = (entry: LogEntry) => void this.logs.push(entry);
    return {
      join,
      tables: {
        source: join.source.table.includes('.') ? join.source.table : `${PROJECT}.${DATASET}.${join.source.table}`,
        ledger: `${PROJECT}.${DATASET}.joined`,
      },
      config,
      log,
      ports: {
        clock,
        ids: { random: () => String(++this.#ids).padStart(32, '0') },
        store: this.store.port(gate),
        bus: this.bus.port(gate),
        warehouse: gated(createWarehouse({ config, log, clock }), gate),
      },
    };
  }

  /** Rows of `events`; what a test does not name is made up. */
  async insert(...rows: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    await this.bigquery.insertRows(
      `${DATASET}.events`,
      rows.map((row) => ({
        unique_key: 'order_001',
        event_status: 'started',
        event_time: text(this.now),
        join_key: 'cust_7',
        payload: '{"amount":10}',
        message_id: 'm1',
        ingest_time: text(this.now),
        ...row,
      })),
    );
  }

  async reference(joinKey: string, attribute: string, updated = '2024-01-01 00:00:00+00'): Promise<void> {
    await this.bigquery.insertRows(`${DATASET}.reference`, [
      { join_key: joinKey, target_attribute: attribute, updated_at: updated },
    ]);
  }

  results(topic = 'results'): Record<string, unknown>[] {
    return this.bus.published(topic).map(({ data }) => JSON.parse(String(data)) as Record<string, unknown>);
  }

  async stop(): Promise<void> {
    await this.bigquery.stop();
  }
}

/** A warehouse whose calls pass through a gate. */
function gated(warehouse: Warehouse, gate: Gate): Warehouse {
  return new Proxy(warehouse, {
    get(target, method: keyof Warehouse) {
      return async (...args: readonly unknown[]) => {
        const resource = args.length === 0 ? '' : jobIdOf(args[0]);
        await gate.before({ port: 'warehouse', method, resource });
        const result = await (target[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
        await gate.after({ port: 'warehouse', method, resource });
        return result;
      };
    },
  });
}

function jobIdOf(argument: unknown): string {
  return typeof argument === 'string' ? argument : ((argument as { jobId?: string }).jobId ?? '');
}

/** Epoch microseconds as BigQuery's JSON takes a TIMESTAMP. */
export function text(micros: number): string {
  const fraction = String(micros % 1e6).padStart(6, '0');
  return `${new Date(Math.floor(micros / 1e6) * 1000).toISOString().slice(0, 19).replace('T', ' ')}.${fraction}+00`;
}
