import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { FakeBus } from '../../test/fakes/bus.ts';
import { fakeClock } from '../../test/fakes/clock.ts';
import { OPEN, type Gate } from '../../test/fakes/gate.ts';
import { FakeStore } from '../../test/fakes/store.ts';
import { FakeTable } from '../../test/fakes/tables.ts';
import { loadConfig } from '../config.ts';
import { TransientError } from '../core/errors.ts';
import type { EventRow } from '../core/event.ts';
import type { HttpAnswer, HttpRequest } from '../http/handler.ts';
import type { LogEntry } from '../log.ts';
import { create } from '../submit.ts';
import type { EventOutcome } from './outcomes.ts';

const TASK = {
  'x-cloudtasks-taskname': 'task-1',
  'x-cloudtasks-queuename': 'urgent',
  'x-cloudtasks-taskretrycount': '0',
};

function setup(settings: Record<string, string> = {}) {
  const clock = fakeClock();
  const bus = new FakeBus();
  const store = new FakeStore();
  const table = new FakeTable<EventRow>(() => clock.now());
  const lines: LogEntry[] = [];
  const fault: { port: string | null } = { port: null };
  const gate: Gate = {
    ...OPEN,
    async before({ port, resource }) {
      if (fault.port === port || fault.port === resource) throw new TransientError('unavailable', 'down');
    },
  };
  const config = loadConfig({ PROJECT_ID: 'local-project', MAX_DELIVERY_ATTEMPTS: '5', ...settings });
  const ports = { clock, bus: bus.port(gate), store: store.port(gate), events: table.port('events', gate) };
  const handler = create({ config, ports, log: (line) => lines.push(line) });
  const call = (request: Partial<HttpRequest>): Promise<HttpAnswer> =>
    handler({ method: 'POST', path: '/', headers: {}, body: null, rawBody: null, ...request }, (l) => lines.push(l));
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    call({ headers, rawBody: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) });
  const get = async (query: string) => (await call({ method: 'GET', query })).body as Record<string, unknown>;
  return { clock, bus, store, table, lines, fault, call, post, get };
}

const event = (changes: object = {}) => ({
  unique_key: 'k',
  event_id: 'e-1',
  event_status: 'started',
  timestamp: '2024-01-05T10:00:00Z',
  ...changes,
});
const resultsOf = ({ body }: HttpAnswer) => (body as { results: EventOutcome[] }).results;
const outcomesOf = (answer: HttpAnswer) => resultsOf(answer).map((one) => one.code ?? one.outcome);
const codeOf = ({ status, body }: HttpAnswer) => [status, (body as { code: string }).code];

describe('submit', () => {
  test('an array: each event with its own outcome, in their order', async () => {
    const { post, table, bus } = setup();
    const answer = await post([event(), event({ event_id: 'e-2', event_status: 'finished' }), event(), { a: 1 }, 7]);
    assert.equal(answer.status, 200);
    assert.deepEqual(outcomesOf(answer), ['stored', 'stored', 'repeated', 'missing_key', 'not_an_object']);
    assert.deepEqual(resultsOf(answer)[0], { event_id: 'e-1', unique_key: 'k', outcome: 'stored' });
    assert.match(resultsOf(answer)[3]!.hint!, /unique_key is missing/);
    assert.equal(table.commits.length, 3);
    assert.equal(bus.published('completions').length, 1);
    assert.deepEqual(
      bus.published('deadLetters').map(({ data, attributes }) => [Buffer.from(data).toString(), attributes['origin']]),
      [
        ['{"a":1}', 'submit'],
        ['7', 'submit'],
      ],
    );
  });

  test('any payload keeps its source text, alone and in an array', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.boolean(), async (payload, alone) => {
        const { post, table } = setup();
        const exact = `{"n": 1.0, "big":12345678901234567890, "x": ${payload}}`;
        const text = `{"payload": ${exact},${JSON.stringify(event()).slice(1)}`;
        await post(alone ? text : ` [ ${text} ] `);
        assert.equal(table.commits[0]!.row.payload, exact);
      }),
      { numRuns: 30 },
    );
  });

  test('without an id the queue, the task and the place in the array are one, the same at each attempt', async () => {
    const { post } = setup();
    const body = [event({ event_id: undefined }), event({ event_id: undefined, event_status: 'processing' })];
    const first = await post(body, TASK);
    assert.deepEqual(
      resultsOf(first).map((one) => one.event_id),
      ['urgent/task-1/0', 'urgent/task-1/1'],
    );
    assert.deepEqual(outcomesOf(await post(body, { ...TASK, 'x-cloudtasks-taskretrycount': '3' })), [
      'repeated',
      'repeated',
    ]);
    // Names of tasks are only unique within their queue.
    const other = await post(body, { ...TASK, 'x-cloudtasks-queuename': 'bulk' });
    assert.deepEqual(
      resultsOf(other).map((one) => [one.event_id, one.outcome]),
      [
        ['bulk/task-1/0', 'stored'],
        ['bulk/task-1/1', 'stored'],
      ],
    );
    assert.deepEqual(outcomesOf(await post(body)), ['missing_event_id', 'missing_event_id']);
  });

  test('503 while a fate is open; the repeat finishes it', async () => {
    const { post, fault, lines } = setup();
    for (const port of ['events', 'store']) {
      fault.port = port;
      const answer = await post([event(), { bad: true }], TASK);
      assert.equal(answer.status, 503);
      assert.ok(Number(answer.headers!['retry-after']) > 0);
      assert.deepEqual(
        resultsOf(answer).map(({ outcome, code }) => [outcome, code]),
        [
          ['undecided', 'unavailable'],
          ['rejected', 'missing_key'],
        ],
      );
    }
    fault.port = null;
    assert.deepEqual(outcomesOf(await post([event()], TASK)), ['stored']);
    assert.deepEqual(
      lines.filter((line) => line.event === 'submit.retry').map((line) => [line['events'], line['undecided']]),
      [
        [2, 1],
        [2, 1],
      ],
    );
  });

  test('a dead letter that cannot be written leaves the fate open', async () => {
    const { post, fault } = setup();
    fault.port = 'deadLetters';
    assert.equal((await post({ bad: true }, TASK)).status, 503);
  });

  test('the last attempt of a task is dead-lettered with its cause', async () => {
    const { post, fault, bus } = setup();
    fault.port = 'events';
    assert.equal((await post(event(), { ...TASK, 'x-cloudtasks-taskretrycount': '3' })).status, 503);
    const last = await post(event(), { ...TASK, 'x-cloudtasks-taskretrycount': '4' });
    assert.deepEqual([last.status, ...outcomesOf(last)], [200, 'delivery_attempts_exhausted']);
    assert.equal(bus.published('deadLetters')[0]!.attributes['cause'], 'unavailable');
    assert.equal(bus.published('deadLetters')[0]!.attributes['origin'], 'submit/urgent/task-1');
    // Whoever waits for the answer decides alone how often to try.
    assert.equal((await post(event())).status, 503);
  });
});

describe('a request that is none', () => {
  const bodies = { '': 'empty_data', '{': 'invalid_json', '"text"': 'not_an_object', "[{'a': None}]": 'invalid_json' };
  for (const [body, code] of Object.entries(bodies)) {
    test(`${code}: 4xx to a caller, a dead letter of a task (${body})`, async () => {
      const { post, bus } = setup();
      assert.deepEqual(codeOf(await post(body)), [400, code]);
      assert.equal(bus.published('deadLetters').length, 0);
      const answer = await post(body, TASK);
      assert.deepEqual([answer.status, ...outcomesOf(answer)], [200, code]);
      assert.equal(Buffer.from(bus.published('deadLetters')[0]!.data).toString(), body);
    });
  }

  test('more events than one request may hold', async () => {
    const { post, bus, table } = setup();
    const many = Array.from({ length: 501 }, (_, i) => event({ event_id: `e-${i}` }));
    assert.deepEqual(codeOf(await post(many)), [400, 'too_large']);
    assert.equal((await post(many, TASK)).status, 200);
    assert.equal(bus.published('deadLetters').length, 501);
    assert.equal(table.commits.length, 0);
    assert.equal((await post(many.slice(1))).status, 200);
    assert.equal(table.commits.length, 500);
  });

  test('an array without end is one dead letter, not one for each element', async () => {
    const { post, bus } = setup();
    const endless = Array.from({ length: 10_001 }, () => 1);
    assert.deepEqual(codeOf(await post(endless)), [400, 'too_large']);
    assert.equal((await post(endless, TASK)).status, 200);
    const letters = bus.published('deadLetters');
    assert.equal(letters.length, 1);
    assert.equal(letters[0]!.attributes['reason'], 'not_an_object');
    assert.deepEqual(JSON.parse(Buffer.from(letters[0]!.data).toString()), endless);
  });

  test('method, type and size', async () => {
    const { call } = setup();
    const rawBody = Buffer.from(JSON.stringify(event()));
    const put = await call({ method: 'PUT', rawBody });
    assert.deepEqual([put.status, put.headers!['allow']], [405, 'GET, POST']);
    assert.equal((await call({ rawBody, headers: { 'content-type': 'text/xml' } })).status, 415);
    assert.equal((await call({ rawBody: Buffer.alloc(8_000_001, ' ') })).status, 413);
    for (const type of [
      'application/json; charset=utf-8',
      'application/octet-stream',
      'application/cloudevents+json',
    ]) {
      assert.equal((await call({ rawBody, headers: { 'content-type': type } })).status, 200);
    }
    assert.equal(
      (await call({ method: 'PUT', rawBody, headers: { ...TASK, 'content-type': 'text/xml' } })).status,
      200,
    );
  });

  test('an empty array is done', async () => {
    const { post } = setup();
    assert.deepEqual(await post([]), { status: 200, body: { results: [] } });
  });
});

describe('the state of a key', () => {
  test('from absent over open to waiting for its summary', async () => {
    const { post, get } = setup();
    assert.deepEqual(await get('unique_key=a%20b&event_id=e-1'), {
      unique_key: 'a b',
      state: 'absent',
      event: { event_id: 'e-1', held: false },
    });
    await post(event({ unique_key: 'a b' }));
    const open = await get('unique_key=a%20b&event_id=e-1');
    assert.deepEqual(open['event'], { event_id: 'e-1', held: true });
    assert.deepEqual(
      [open['state'], open['events'], open['events_in_summary'], open['completion'], open['next_wake_up']],
      ['open', 1, 0, null, '2024-01-06T10:00:00.000000Z'],
    );
    await post(event({ unique_key: 'a b', event_id: 'e-2', event_status: 'completed' }));
    const { completion } = (await get('unique_key=a%20b')) as { completion: Record<string, unknown> };
    assert.deepEqual([completion['event_id'], completion['complete']], ['e-2', true]);
  });

  test('ids past the inline bound', async () => {
    const { post, get } = setup({ IDS_INLINE: '1' });
    await post([event(), event({ event_id: 'e-2' }), event({ event_id: 'e-3' })]);
    for (const [id, held] of Object.entries({ 'e-1': true, 'e-2': true, 'e-3': true, 'e-4': false })) {
      assert.deepEqual((await get(`unique_key=k&event_id=${id}`))['event'], { event_id: id, held });
    }
  });

  test('needs a key', async () => {
    const { call } = setup();
    assert.deepEqual(codeOf(await call({ method: 'GET', query: 'event_id=e' })), [400, 'missing_key']);
  });
});
