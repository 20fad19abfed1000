import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkJoin } from '../../functions/join/check.ts';
import { JoinCloud } from './cloud.ts';

/** SELECTs as people write them, and every type of column in a message. */

process.env['METADATA_SERVER_DETECTION'] = 'none';

let cloud: JoinCloud;
before(async () => {
  cloud = await JoinCloud.start();
  await cloud.reference('cust_7', 'Zürich 🚲');
});
after(() => cloud.stop());

let number = 0;

/** The messages of one event through a join with this SELECT. */
async function messages(query: string, file: Readonly<Record<string, unknown>> = {}): Promise<string[]> {
  const topic = `shape-${++number}`;
  const join = cloud.join(`shape_${number}`, query, { topic, ...file });
  await cloud.tick(join);
  await cloud.insert({ event_id: `e-${number}` });
  cloud.advance(120);
  await cloud.tick(join);
  // A new join reads its lookback too, where the events of others are.
  return cloud.bus
    .published(topic)
    .flatMap(({ data }) => (String(data).includes(`"e-${number}"`) ? [String(data)] : []));
}

const ALL = 'SELECT unique_key, event_id, TRUE AS enriched FROM new_events';

const SHAPES: readonly [what: string, query: string][] = [
  ['a comment at the end, without a line break', `${ALL} -- done`],
  ['comments of all kinds', `# first\n-- ORDER BY ; @x \`\n/* ${ALL}; */ ${ALL}`],
  ['a semicolon and blanks at the end', `${ALL} ;\n\n`],
  ['an ORDER BY and a LIMIT', `${ALL} ORDER BY event_id LIMIT 1000`],
  ['a WITH of its own, with a name that Codaflow uses', `WITH keyed AS (${ALL}), selected AS (SELECT * FROM keyed) SELECT * FROM selected`], // prettier-ignore
  ['a UNION', `${ALL} WHERE event_id LIKE 'a%' UNION ALL ${ALL} WHERE event_id NOT LIKE 'a%'`],
  ['brackets around it', `(${ALL})`],
  ['Windows line ends and a tab', `SELECT\r\n\tunique_key, event_id,\r\n  TRUE AS enriched\r\nFROM new_events\r\n`],
  ['backticks and a name in another case', 'SELECT `unique_key`, EVENT_ID, TRUE AS `Enriched` FROM `new_events`'],
];
for (const [what, query] of SHAPES) {
  test(`a SELECT with ${what}`, async () => {
    const [message, ...more] = await messages(query);
    assert.deepEqual(more, []);
    assert.match(message!, /"order_001"/);
  });
}

test('multi-byte text in SQL, in values and in the message is kept', async () => {
  const query = `SELECT new_events.unique_key, new_events.event_id, CONCAT('→ ', reference.target_attribute) AS \`text\`, TRUE AS enriched
    FROM new_events LEFT JOIN \`\${dataset}.reference\` AS reference USING (join_key)`;
  const [message] = await messages(query);
  assert.equal((JSON.parse(message!) as { text: string }).text, '→ Zürich 🚲');
});

test('columns named like reserved words are order, row key, attribute and ordering key', async () => {
  const query =
    'SELECT unique_key, event_id, TRUE AS enriched, `group`, "k" AS `order` FROM new_events CROSS JOIN UNNEST([3, 1, 1]) AS `group`';
  const file = { row_key: ['group'], order: ['order DESC'], attributes: ['group'], ordering_key: 'order' };
  const found = await messages(query, file);
  assert.deepEqual(found.map((text) => (JSON.parse(text) as { group: number }).group).sort(), [1, 3]);
  const sent = cloud.bus.published(`shape-${number}`)[0]!;
  assert.equal(sent.orderingKey, 'k');
  assert.match(sent.attributes['group']!, /^[13]$/);
});

test('every type has its text in the message', async () => {
  const columns = `
    9007199254740993 AS int64, 1.5 AS float64, CAST('nan' AS FLOAT64) AS nan, NUMERIC '12345678901234567890.5' AS numeric,
    b'ab\\xff' AS bytes, TIMESTAMP '2026-01-05 10:00:00.120 UTC' AS moment, DATE '2026-01-05' AS day, TRUE AS yes,
    ['a', 'b'] AS list, STRUCT(1 AS a, 'x' AS b) AS pair, [STRUCT(1 AS a)] AS pairs, CAST(NULL AS STRING) AS nothing,
    PARSE_JSON('{"b":[1,2]}') AS json`;
  const [message] = await messages(`SELECT unique_key, event_id, TRUE AS enriched, ${columns} FROM new_events`);
  assert.equal(
    message!.slice(message!.indexOf('"int64"')),
    '"int64":"9007199254740993","float64":1.5,"nan":"NaN","numeric":"12345678901234567890.5","bytes":"YWL/",' +
      '"moment":"2026-01-05T10:00:00.120Z","day":"2026-01-05","yes":true,"list":["a","b"],"pair":{"a":1,"b":"x"},' +
      '"pairs":[{"a":1}],"nothing":null,"json":{"b":[1,2]}}',
  );
});

test('what is no single SELECT, or names a column twice, is refused before it runs', async () => {
  const problem = async (query: string) => (await checkJoin(cloud.context(cloud.join('mine', query)))).problem;
  assert.match((await problem(`${ALL};\nSELECT 1`)) ?? 'accepted', /^joins\/mine\/query\.sql:/);
  assert.match((await problem('DELETE FROM new_events WHERE TRUE')) ?? 'accepted', /^joins\/mine\/query\.sql:1: /);
  assert.match((await problem(`${ALL} WHERE event_id = @id`)) ?? 'accepted', /^joins\/mine\/query\.sql:1: .*id/);
  assert.match((await problem('SELECT unique_key, event_id, 1 AS a, 2 AS a, TRUE AS enriched FROM new_events')) ?? 'accepted', /\ba\b/); // prettier-ignore
});

test('every job is bounded and labelled, but for dry runs, which bill nothing', async () => {
  const [jobs] = await cloud.client.getJobs();
  const clock = jobs.filter(({ metadata }) => JSON.stringify(metadata).includes('CURRENT_TIMESTAMP'));
  const ours = jobs.filter(({ id }) => id!.startsWith('codaflow_'));
  assert.ok(clock.length > 10 && ours.length > 20);
  for (const { id, metadata } of [...clock, ...ours]) {
    const { configuration } = metadata as { configuration: { labels: object; query: { maximumBytesBilled: string } } };
    assert.equal(configuration.query.maximumBytesBilled, String(cloud.config().maxBytesBilled), id);
    const labels = clock.includes(jobs.find((job) => job.id === id)!)
      ? ['codaflow_step']
      : ['codaflow_join', 'codaflow_step'];
    assert.deepEqual(Object.keys(configuration.labels).sort(), labels);
  }
});
