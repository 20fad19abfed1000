import { once } from 'node:events';
import { Faults } from '../shared/faults.ts';
import { listen, stop } from '../shared/grpc.ts';
import { Meter } from '../shared/meter.ts';
import { Appends } from './append.ts';
import { Catalog } from './catalog.ts';
import { toObject } from './cells.ts';
import { CommitClock } from './clock.ts';
import { Database } from './database.ts';
import { Engine } from './engine.ts';
import { invalid } from './errors.ts';
import { listenHttp } from './http.ts';
import { Jobs } from './jobs.ts';
import { Mutex, MutationQueues } from './lock.ts';
import { inferParameters } from './parameters.ts';
import { datasetRoutes } from './routes-datasets.ts';
import { jobRoutes } from './routes-jobs.ts';
import { tabledataRoutes } from './routes-tabledata.ts';
import { tableRoutes } from './routes-tables.ts';
import type { Services } from './services.ts';
import { compile as compileGoogleSql } from './sql/index.ts';
import type { TableRef } from './sql/types.ts';
import { firstError, Streaming } from './streaming.ts';
import type { BigQueryOptions, BigQueryServer } from './types.ts';
import { writeServer } from './write-grpc.ts';

/**
 * Starts a BigQuery of this machine's own: the REST API on `address`, the Storage Write API (gRPC) on `grpcAddress`,
 * rows in DuckDB.
 */
export async function startBigQuery(options: BigQueryOptions = {}): Promise<BigQueryServer> {
  const database = await Database.open(options.stateDir);
  const services = await makeServices(database, options);
  const { jobs, appends, engine, catalog, streaming } = services;
  const routes = [
    ...datasetRoutes(services),
    ...tableRoutes(services),
    ...tabledataRoutes(services),
    ...jobRoutes(services),
  ];
  const http = await listenHttp(routes, options.port ?? 0);
  const write = writeServer(services);
  const grpcPort = await listen(write, options.grpcPort ?? 0);
  const project = options.project ?? 'local';
  return {
    address: `127.0.0.1:${http.port}`,
    grpcAddress: `127.0.0.1:${grpcPort}`,
    async stop() {
      stop(write);
      http.server.close();
      http.server.closeAllConnections();
      await once(http.server, 'close');
      await jobs.stop();
      await appends.idle();
      appends.close();
      database.close();
    },
    async insertRows(table, rows) {
      const stored = catalog.table(parseTable(table, project));
      const errors = await streaming.insert(
        stored,
        rows.map((json) => ({ json })),
        {},
      );
      const error = firstError(errors);
      if (error) throw error;
    },
    async query(sql, parameters = {}) {
      const statement = { sql, project, parameters: inferParameters(parameters) };
      const { compiled } = engine.check(statement);
      const outcome = await engine.run(statement, compiled.kind === 'select' ? undefined : compiled.target, {
        signal: new AbortController().signal,
        beforeCommit: async () => undefined,
      });
      return outcome.rows.map((row) => toObject(outcome.fields, row));
    },
  };
}

async function makeServices(database: Database, options: BigQueryOptions): Promise<Services> {
  const clock = new CommitClock(options.clock);
  const lock = new Mutex();
  const meter = options.meter ?? new Meter();
  const catalog = new Catalog(database, lock, clock);
  const appends = new Appends(database, catalog, lock, clock);
  const compile = options.compile ?? compileGoogleSql;
  const engine = new Engine({ compile, database, catalog, appends, lock, mutations: new MutationQueues(), clock });
  const location = options.location ?? 'US';
  const jobs = new Jobs(database, engine, clock, meter, location);
  await catalog.load();
  await resume(database, catalog, clock, appends);
  await jobs.load();
  const streaming = new Streaming(appends, clock, meter);
  return { catalog, appends, engine, jobs, streaming, clock, faults: options.faults ?? new Faults(), meter, location };
}

/** No commit time and no row number of an earlier process is given out again. */
async function resume(database: Database, catalog: Catalog, clock: CommitClock, appends: Appends): Promise<void> {
  const connection = await database.connect();
  for (const table of catalog.allTables()) {
    clock.advance(table.modified);
    if (table.kind === 'view') continue;
    const reader = await connection.runAndReadAll(`SELECT epoch_us(max(_commit_time)), max(_row) FROM ${table.duckdb}`);
    const [time, row] = reader.getRows()[0] as [bigint | null, bigint | null];
    clock.advance(Number(time ?? 0));
    appends.advance(Number(row ?? 0));
  }
  database.release(connection);
}

function parseTable(name: string, project: string): TableRef {
  const parts = name.split('.');
  const [owner, dataset, table] = parts.length === 2 ? [project, ...parts] : parts;
  if (parts.length > 3 || !owner || !dataset || !table) throw invalid(`"${name}" is no dataset.table`);
  return { project: owner, dataset, table };
}
