import type { Micros } from '../event.ts';
import { dayPredicate, type Days } from './days.ts';
import type { JoinSettings } from './settings.ts';

/**
 * The rows that a run reads: a commit-time window; everything that arrived from some time on; or, for a backfill, what
 * has an event time in `[from, to)`. `end` is the moment at which a row's wait is measured.
 */
export type Reads =
  | { readonly kind: 'window'; readonly start: Micros; readonly end: Micros }
  | { readonly kind: 'scan'; readonly from: Micros; readonly end: Micros }
  | { readonly kind: 'range'; readonly from: Micros; readonly to: Micros; readonly end: Micros };

/** Full names of the tables, `project.dataset.table`. */
export interface Tables {
  readonly source: string;
  readonly ledger: string;
}

export interface Statement {
  readonly sql: string;
  readonly parameters: Readonly<
    Record<string, { readonly type: 'STRING' | 'TIMESTAMP'; readonly value: string | Micros }>
  >;
}

const timestamp = (value: Micros) => ({ type: 'TIMESTAMP', value }) as const;
const string = (value: string) => ({ type: 'STRING', value }) as const;

/** A column name in backticks: it may be a reserved word. */
const q = (column: string) => `\`${column}\``;

/** Names and values of the two parameters that bound what is read; the ledger keeps both. */
function bounds(reads: Reads): readonly [start: readonly [string, Micros], end: readonly [string, Micros]] {
  switch (reads.kind) {
    case 'window':
      return [
        ['window_start', reads.start],
        ['window_end', reads.end],
      ];
    case 'scan':
      return [
        ['arrived_from', reads.from],
        ['window_end', reads.end],
      ];
    case 'range':
      return [
        ['range_from', reads.from],
        ['range_to', reads.to],
      ];
  }
}

/** Parameters of `from`; a scan has no upper bound. */
function readParameters(reads: Reads): Statement['parameters'] {
  const [start, end] = bounds(reads);
  return Object.fromEntries(
    (reads.kind === 'scan' ? [start] : [start, end]).map(([name, value]) => [name, timestamp(value)]),
  );
}

/** FROM and WHERE of the rows that a run reads. */
function from(join: JoinSettings, tables: Tables, reads: Reads): string {
  if (reads.kind === 'window')
    return `FROM APPENDS(TABLE \`${tables.source}\`, @window_start, @window_end)\n  WHERE TRUE`;
  if (reads.kind === 'range')
    return `FROM \`${tables.source}\`\n  WHERE ${q(join.source.time)} >= @range_from AND ${q(join.source.time)} < @range_to`;
  const arrival = join.source.arrival;
  return `FROM \`${tables.source}\`\n  WHERE ${arrival === null ? '@arrived_from IS NOT NULL' : `${q(arrival)} >= @arrived_from`}`;
}

/** When a row became visible: its commit time; in other reads its arrival, or long ago where there is no such column. */
function changeTime(join: JoinSettings, reads: Reads): string {
  if (reads.kind === 'window') return '_CHANGE_TIMESTAMP';
  return join.source.arrival === null ? 'TIMESTAMP_MICROS(0)' : q(join.source.arrival);
}

/** Rows per event day of what a run reads: `day` (days since 1970-01-01, NULL without a time) and `events`. */
export function probeSql(join: JoinSettings, tables: Tables, reads: Reads): Statement {
  const sql = `SELECT day, COUNT(*) AS events
FROM (
  SELECT UNIX_DATE(DATE(${q(join.source.time)})) AS day
  ${from(join, tables, reads)}
)
GROUP BY day
ORDER BY day`;
  return { sql, parameters: readParameters(reads) };
}

/** CTEs from the source's rows to `answer`: one row per result id and per row that was not picked for it. */
function answer(join: JoinSettings, tables: Tables, reads: Reads, days: Days): string {
  const { source } = join;
  const [key, id, time] = [q(source.key), q(source.id), q(source.time)];
  // A table of the user's own may have identities of other types than STRING.
  const text = (column: string) => (join.source.table === 'events' ? column : `CAST(${column} AS STRING)`);
  const change = reads.kind === 'window' ? '* EXCEPT (_CHANGE_TYPE, _CHANGE_TIMESTAMP)' : '*';
  const rowKey = join.rowKey.map((column) => `,\n        CAST(selected.${q(column)} AS STRING)`).join('');
  const orders = join.order
    .map((column, i) => `\n      selected.${q(column.replace(/ DESC$/, ''))} AS order_${i},`)
    .join('');
  const message =
    join.omit.length === 0
      ? 'TO_JSON_STRING(selected)'
      : `TO_JSON_STRING((SELECT AS STRUCT selected.* EXCEPT (${join.omit.map(q).join(', ')})))`;
  return `appended AS (
    SELECT ${change}, ${changeTime(join, reads)} AS codaflow_change_time
    ${from(join, tables, reads)} AND ${dayPredicate(time, days)}
  ),
  new_events AS (
    SELECT *
    FROM appended
    WHERE TRUE
    QUALIFY ROW_NUMBER() OVER (PARTITION BY ${key}, ${id} ORDER BY ${[...source.order.map(q), 'codaflow_change_time'].join(', ')}) = 1
  ),
  selected AS (
${join.query}
  ),
  keyed AS (
    SELECT
      TO_HEX(SHA256(TO_JSON_STRING([
        @join_name,
        ${text('selected.unique_key')},
        ${text('selected.event_id')},
        CAST(UNIX_MICROS(new_events.${time}) AS STRING)${rowKey}
      ]))) AS result_id,
      ${text('selected.unique_key')} AS unique_key,
      ${text('selected.event_id')} AS event_id,
      new_events.${time} AS event_time,
      new_events.codaflow_change_time AS change_time,${orders}
      IFNULL(selected.enriched, FALSE) AS enriched,
      ${message} AS message
    FROM selected
    JOIN new_events
      ON ${text(`new_events.${key}`)} = ${text('selected.unique_key')}
      AND ${text(`new_events.${id}`)} = ${text('selected.event_id')}
  )`;
}

/** Which rows of `keyed` are merged now. */
function ripe(join: JoinSettings): string {
  return join.unmatched === 'drop' ? 'enriched' : '(enriched OR change_time <= @wait_before)';
}

function survivorOrder(join: JoinSettings): string {
  return [...join.order.map((column, i) => `order_${i}${column.endsWith(' DESC') ? ' DESC' : ''}`), 'message'].join(
    ', ',
  );
}

/** The one statement that finds the rows and writes them into the ledger, atomically and once per result id. */
export function mergeSql(join: JoinSettings, tables: Tables, reads: Reads, days: Days, runId: string): Statement {
  const [[start, startValue], [end, endValue]] = bounds(reads);
  const sql = `MERGE \`${tables.ledger}\` AS ledger
USING (
  WITH ${answer(join, tables, reads, days)}
  SELECT result_id, unique_key, event_id, event_time, message
  FROM keyed
  WHERE ${ripe(join)}
  QUALIFY ROW_NUMBER() OVER (PARTITION BY result_id ORDER BY ${survivorOrder(join)}) = 1
) AS fresh
ON ledger.result_id = fresh.result_id
  AND ledger.join_name = @join_name
  AND ${dayPredicate('ledger.event_time', days)}
WHEN NOT MATCHED THEN
  INSERT (join_name, result_id, run_id, unique_key, event_id, event_time, window_start, window_end, message)
  VALUES (@join_name, fresh.result_id, @run_id, fresh.unique_key, fresh.event_id, fresh.event_time, @${start}, @${end}, fresh.message)`;
  return {
    sql,
    parameters: {
      [start]: timestamp(startValue),
      [end]: timestamp(endValue),
      join_name: string(join.name),
      run_id: string(runId),
      ...(join.unmatched === 'wait' ? { wait_before: timestamp(reads.end - join.wait) } : {}),
    },
  };
}

/** What happened to the identities of a run, for its log line: one row of counts. */
export function countsSql(join: JoinSettings, tables: Tables, reads: Reads, days: Days): Statement {
  const [key, id] = [q(join.source.key), q(join.source.id)];
  const sql = `WITH ${answer(join, tables, reads, days)},
  events AS (
    SELECT new_events.${key} AS unique_key, new_events.${id} AS event_id, COUNT(keyed.result_id) AS answers,
      COUNTIF(keyed.enriched) AS enriched, COUNT(DISTINCT keyed.result_id) AS results
    FROM new_events
    LEFT JOIN keyed
      ON keyed.unique_key = CAST(new_events.${key} AS STRING) AND keyed.event_id = CAST(new_events.${id} AS STRING)
    GROUP BY 1, 2
  )
SELECT COUNT(*) AS events, COUNTIF(answers = 0) AS dropped, COUNTIF(answers > 0 AND enriched = 0) AS unmatched,
  IFNULL(SUM(answers - results), 0) AS surplus
FROM events`;
  return { sql, parameters: { ...readParameters(reads), join_name: string(join.name) } };
}

/** What the SELECT returns, as a result of its own: only for a check, since BigQuery refuses names that stand twice here. */
export function shapeSql(join: JoinSettings, tables: Tables, reads: Reads, days: Days): Statement {
  const sql = `WITH ${answer(join, tables, reads, days)}
SELECT * FROM selected`;
  return { sql, parameters: { ...readParameters(reads), join_name: string(join.name) } };
}

/** The rows of a run in the ledger, in the order in which they are published. */
export function readSql(tables: Tables, joinName: string, runId: string, days: Days, after: string): Statement {
  const sql = `SELECT result_id, unique_key, event_id, message
FROM \`${tables.ledger}\`
WHERE join_name = @join_name
  AND run_id = @run_id
  AND result_id > @after
  AND ${dayPredicate('event_time', days)}
ORDER BY result_id`;
  return { sql, parameters: { join_name: string(joinName), run_id: string(runId), after: string(after) } };
}
