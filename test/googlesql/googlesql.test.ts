import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { compile, SqlError } from '../../local/bigquery/sql/index.ts';
import { FIXTURE, view } from './fixture.ts';
import { Local } from './local.ts';
import { emulateMerge } from './merge.ts';
import { install, Oracle } from './oracle.ts';
import { JOIN_STATEMENTS } from './project.ts';
import { CHANGES, EXPRESSIONS, FAILING, PROJECT, QUERIES, REFUSED, type Case } from './statements.ts';
import { fromGoogle } from './values.ts';

const missing = await install();
if (missing !== undefined) {
  console.error(`\n!!!! GoogleSQL is NOT compared with Google's evaluator: ${missing} !!!!\n`);
}

/** The statement as the oracle knows its tables: without project and dataset, APPENDS and AS OF as the rows they give. */
function forOracle(sql: string): string {
  return sql
    .replace(/APPENDS\(TABLE\s+(?:`[^`]+`|[\w.]+)\s*(?:,[^()]*)?\)/g, '(SELECT * FROM appended_events)')
    .replace(/\bFOR SYSTEM_TIME AS OF [^\n]*? END_TIME/g, '')
    .replace(/`(?:p\.)?ds\.(\w+)`|\b(?:p\.)?ds\.(\w+)/g, (_all, quoted?: string, bare?: string) => {
      const name = quoted ?? bare ?? '';
      return ['events_unique', 'summaries_latest', 'reconciliation'].includes(name)
        ? `(${forOracle(view(name))}\n)`
        : name;
    });
}

/** The rows that APPENDS gives, as a table of their own. */
const WITH_APPENDED = {
  ...FIXTURE,
  appended_events: {
    columns: { ...FIXTURE['events']?.columns, _CHANGE_TYPE: 'STRING', _CHANGE_TIMESTAMP: 'TIMESTAMP' },
    rows: (FIXTURE['events']?.rows ?? []).map((row) => ({
      ...row,
      _CHANGE_TYPE: 'INSERT',
      _CHANGE_TIMESTAMP: '2026-11-29 11:00:00',
    })),
  },
};

type Result = { readonly rows: unknown[][] } | { readonly error: string };

async function attempt(work: () => Promise<unknown[][]>): Promise<Result> {
  try {
    return { rows: await work() };
  } catch (error) {
    const { details, message } = error as { details?: string; message: string };
    return { error: details ?? message };
  }
}

function agree(sql: string, google: Result, local: Result): void {
  if ('error' in google) {
    assert.ok('error' in local, `${sql}\nGoogle fails (${google.error}), the local result is ${JSON.stringify(local)}`);
    return;
  }
  assert.ok(
    'rows' in local,
    `${sql}\nGoogle gives ${JSON.stringify(google.rows)}, locally: ${'error' in local ? local.error : ''}`,
  );
  const ordered = /ORDER BY[^()]*$/i.test(sql);
  const shape = (rows: unknown[][]): string[] =>
    ordered ? rows.map((row) => JSON.stringify(row)) : rows.map((row) => JSON.stringify(row)).sort();
  assert.deepEqual(shape(local.rows), shape(google.rows), sql);
}

const SENT = [...PROJECT, ...JOIN_STATEMENTS];

describe("GoogleSQL compared with Google's evaluator", { skip: missing ?? false }, () => {
  let oracle: Oracle;
  let local: Local;
  before(async () => {
    oracle = await Oracle.start(WITH_APPENDED);
    local = await Local.start(FIXTURE);
  });
  after(() => {
    oracle.stop();
    local.stop();
  });

  const compareQuery = async ({ sql, parameters = {} }: Case): Promise<void> => {
    const google = await attempt(async () =>
      (await oracle.query(forOracle(sql), parameters)).map((row) => row.map(fromGoogle)),
    );
    agree(sql, google, await attempt(() => local.query(sql, parameters)));
  };

  for (const [family, expressions] of Object.entries(EXPRESSIONS)) {
    it(`expressions: ${family}`, async () => {
      const failures: string[] = [];
      for (const expression of expressions) {
        await compareQuery({ sql: `SELECT ${expression}` }).catch((error: unknown) =>
          failures.push((error as Error).message),
        );
      }
      assert.equal(failures.length, 0, failures.join('\n\n'));
    });
  }

  for (const one of QUERIES) it(`query: ${one.sql.slice(0, 100)}`, () => compareQuery(one));

  for (const { sql, parameters = {} } of SENT) {
    it(`analysed: ${sql.replace(/\s+/g, ' ').slice(0, 100)}`, async () => {
      await oracle.analyse(forOracle(sql), parameters);
      const { kind } = compile(sql, local.context(parameters));
      if (kind === 'select') await compareQuery({ sql, parameters });
    });
  }

  for (const { sql, parameters = {}, result } of [...CHANGES, ...SENT.filter((one) => /^\s*MERGE/.test(one.sql))]) {
    it(`change: ${sql.replace(/\s+/g, ' ').slice(0, 100)}`, async () => {
      const { target } = compile(sql, local.context(parameters));
      const columns = Object.keys(FIXTURE[target?.table ?? '']?.columns ?? {});
      await oracle.analyse(forOracle(sql), parameters);
      const google = await attempt(async () => {
        if (result === undefined) return emulateMerge(oracle, forOracle(sql), columns, parameters);
        return (await oracle.query(forOracle(result), parameters)).map((row) => row.map(fromGoogle));
      });
      agree(sql, google, await attempt(() => local.change(sql, parameters)));
    });
  }

  for (const expression of FAILING) {
    it(`fails: ${expression}`, async () => {
      await oracle.query(`SELECT ${expression}`);
      await assert.rejects(() => local.query(`SELECT ${expression}`), /is not supported by the local BigQuery/);
    });
  }

  for (const sql of REFUSED) {
    it(`refused: ${sql}`, () => {
      assert.throws(
        () => compile(sql, local.context()),
        (error) => error instanceof SqlError && / at \[\d+:\d+\]$/.test(error.message),
      );
    });
  }
});
