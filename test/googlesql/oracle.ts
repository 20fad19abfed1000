import grpc from '@grpc/grpc-js';
import loader from '@grpc/proto-loader';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { encode, typeProto, type Decodable } from './values.ts';
import type { Fixture } from './fixture.ts';

const HERE = import.meta.dirname;
const LIBRARY = path.join(HERE, 'node_modules/@fivetrandevelopers/zetasql/lib/zetasql');

type Call = (request: object) => Promise<Record<string, unknown>>;

export interface Parameters {
  readonly [name: string]: readonly [type: string, value: string | null | readonly string[]];
}

/** Installs Google's SQL front end beside this file. Gives the reason when it cannot be had. */
export async function install(): Promise<string | undefined> {
  if (process.platform === 'win32') return 'there is no build of it for this platform';
  if (library() === undefined) {
    try {
      await promisify(execFile)('npm', ['ci', '--ignore-scripts'], { cwd: HERE, timeout: 300_000 });
    } catch (error) {
      return `npm ci in test/googlesql failed: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`;
    }
  }
  return library() === undefined ? 'the package has another layout than expected' : undefined;
}

function library(): string | undefined {
  const places = [LIBRARY, path.join(HERE, 'node_modules/@fivetrandevelopers/zetasql/dist/zetasql')];
  return places.find((place) => existsSync(path.join(place, 'remote_server.so')));
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Google's analyser and reference evaluator over the fixture's tables. */
export class Oracle {
  readonly #process: ChildProcess;
  readonly #call: (method: string) => Call;
  readonly #language: Record<string, unknown>;
  readonly #fixture: Fixture;

  private constructor(
    child: ChildProcess,
    call: (method: string) => Call,
    language: Record<string, unknown>,
    fixture: Fixture,
  ) {
    this.#process = child;
    this.#call = call;
    this.#language = language;
    this.#fixture = fixture;
  }

  static async start(fixture: Fixture): Promise<Oracle> {
    const place = library();
    if (place === undefined) throw new Error('not installed');
    const port = await freePort();
    const child = spawn(path.join(place, 'remote_server.so'), ['localhost', String(port)], { stdio: 'ignore' });
    const definition = loader.loadSync('local_service.proto', {
      includeDirs: [path.join(place, 'protos')],
      defaults: false,
      oneofs: true,
      enums: String,
      longs: String,
    });
    const root = grpc.loadPackageDefinition(definition) as unknown as {
      zetasql: { local_service: { ZetaSqlLocalService: grpc.ServiceClientConstructor } };
    };
    const client = new root.zetasql.local_service.ZetaSqlLocalService(
      `localhost:${port}`,
      grpc.credentials.createInsecure(),
      {
        'grpc.max_receive_message_length': 5e8,
      },
    );
    await new Promise<void>((resolve, reject) => {
      client.waitForReady(Date.now() + 20_000, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
    const call = (method: string): Call => {
      const stub = client[method] as (
        request: object,
        done: (error: Error | null, value: Record<string, unknown>) => void,
      ) => void;
      return promisify(stub.bind(client));
    };
    const language = await call('GetLanguageOptions')({ maximumFeatures: true });
    Object.assign(language, {
      productMode: 'PRODUCT_EXTERNAL',
      supportedStatementKinds: [],
      reservedKeywords: ['QUALIFY'],
    });
    return new Oracle(child, call, language, fixture);
  }

  stop(): void {
    this.#process.kill('SIGKILL');
  }

  #context(): object {
    const tables = Object.entries(this.#fixture);
    return {
      simpleCatalog: {
        name: 'c',
        builtinFunctionOptions: { languageOptions: this.#language },
        table: tables.map(([name, { columns }], index) => ({
          name,
          serializationId: String(index + 1),
          column: [...Object.entries(columns), ['_oracle_row', 'INT64'] as const].map(([column, type]) => ({
            name: column,
            type: typeProto(type),
            ...(column === '_oracle_row' && { isPseudoColumn: true, isWritableColumn: false }),
          })),
        })),
      },
      descriptorPoolList: { definitions: [{ builtin: {} }] },
    };
  }

  #content(): object {
    return Object.fromEntries(
      Object.entries(this.#fixture).map(([name, { columns, rows }]) => [
        name,
        {
          tableData: {
            row: rows.map((row, index) => ({
              cell: [
                ...Object.entries(columns).map(([column, type]) => encode(type, row[column] ?? null)),
                encode('INT64', String(index)),
              ],
            })),
          },
        },
      ]),
    );
  }

  #options(parameters: Parameters): object {
    return {
      languageOptions: this.#language,
      errorMessageMode: 'ERROR_MESSAGE_ONE_LINE',
      parameterMode: 'PARAMETER_NAMED',
      defaultTimezone: 'UTC',
      queryParameters: Object.entries(parameters).map(([name, [type]]) => ({ name, type: typeProto(type) })),
    };
  }

  /** @throws Error with Google's message when the statement is wrong */
  async analyse(sql: string, parameters: Parameters = {}): Promise<void> {
    await this.#call('Analyze')({ options: this.#options(parameters), ...this.#context(), sqlStatement: sql });
  }

  async query(sql: string, parameters: Parameters = {}): Promise<Decodable[][]> {
    const answer = await this.#call('EvaluateQuery')({
      sql,
      options: this.#options(parameters),
      ...this.#context(),
      tableContent: this.#content(),
      params: Object.entries(parameters).map(([name, [type, value]]) => ({ name, value: encode(type, value) })),
    });
    const content = answer['content'] as { tableData?: { row?: { cell?: Decodable[] }[] } } | undefined;
    return (content?.tableData?.row ?? []).map((row) => row.cell ?? []);
  }

  /** Google's syntax tree, as nested protos. */
  async parse(sql: string): Promise<Record<string, unknown>> {
    return this.#call('Parse')({ sqlStatement: sql, options: this.#language });
  }
}
