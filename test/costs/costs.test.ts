import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { billOfEvents, breakEven, total } from '../../scripts/costs/bill.ts';
import { operations, type Usage } from '../../scripts/costs/operations.ts';
import { PRICES } from '../../scripts/costs/prices.ts';
import { meter, type Load } from './meter.ts';

/** The month that the README speaks of. */
const MILLION: Usage = { events: 1e6, size: 1024, perKey: 5, arrival: 'apart', inFlight: 80, latency: 100 };

const LOADS: readonly Load[] = [
  { keys: 400, perKey: 1, size: 1024, arrival: 'apart', inFlight: 80 },
  { keys: 200, perKey: 5, size: 1024, arrival: 'apart', inFlight: 80 },
  { keys: 100, perKey: 5, size: 1024, arrival: 'together', inFlight: 80 },
  { keys: 100, perKey: 5, size: 1024, arrival: 'apart', inFlight: 20 },
  { keys: 100, perKey: 20, size: 1024, arrival: 'apart', inFlight: 80 },
  { keys: 20, perKey: 50, size: 1024, arrival: 'together', inFlight: 80 },
];

function near(counted: number, computed: number, tolerance: number, what: string): void {
  const off = Math.abs(counted - computed) / Math.max(counted, computed);
  assert.ok(off <= tolerance, `${what}: counted ${counted}, computed ${computed}`);
}

for (const load of LOADS) {
  const { keys, perKey, arrival, inFlight } = load;
  test(`operations are what is counted: ${keys} keys, ${perKey} events each, ${arrival}, ${inFlight} in flight`, async () => {
    const counted = await meter(load);
    const computed = operations({ ...load, events: keys * perKey, latency: 100 });
    assert.equal(counted.rows, counted.events);
    assert.equal(counted.completions, computed.keys);
    assert.equal(counted.summaries, computed.keys);
    if (arrival === 'apart') {
      // A key's events never share a write, so these are exact.
      assert.equal(counted.reads, computed.reads);
      assert.equal(counted.writes, computed.writes);
      assert.equal(counted.deletes, computed.deletes);
      assert.equal(counted.indexUnits, computed.indexUnits);
    }
    // A group may cut a burst in two.
    near(counted.reads, computed.reads, 0.1, 'reads');
    near(counted.writes, computed.writes, 0.1, 'writes');
    near(counted.writeUnits, computed.writeUnits, 0.2, 'units written');
    near(counted.deleteUnits, computed.deleteUnits, 0.2, 'units deleted');
    near(counted.readUnits, computed.readUnits, 0.2, 'units read');
    near(counted.appends, computed.appends, 0.3, 'appends');
  });
}

test('a million events of 1 KB, five of a key, come apart', () => {
  const standard = total(billOfEvents(MILLION, 'standard'));
  const enterprise = total(billOfEvents(MILLION, 'enterprise'));
  assert.ok(standard <= 2.4, `${standard}`);
  assert.ok(enterprise < standard && enterprise <= 1.46, `${enterprise}`);
  assert.ok(total(billOfEvents({ ...MILLION, arrival: 'together' }, 'standard')) < standard);
});

test('the bill grows with the events, and some month is dearer than a streaming job', () => {
  const hundred = total(billOfEvents({ ...MILLION, events: 1e8 }, 'standard'));
  assert.ok(Math.abs(hundred / total(billOfEvents(MILLION, 'standard')) - 100) < 0.01);
  const even = breakEven(MILLION, 'standard', 0);
  assert.ok(even !== null && even > 1e7 && even < 1e8, `${even}`);
});

test('every price names its page and when it was read', () => {
  for (const [name, { page, read }] of Object.entries(PRICES)) {
    assert.match(page, /^https:\/\//, name);
    assert.match(read, /^2026-\d\d/, name);
  }
});

const run = (...args: string[]) =>
  spawnSync(process.execPath, [path.resolve(import.meta.dirname, '../../scripts/costs.ts'), ...args], {
    encoding: 'utf8',
  });

test('the command prints a table, JSON, and what is wrong with its options', () => {
  const { stdout, status } = run('--events', '1e6', '--edition', 'enterprise', '--join', '2');
  assert.equal(status, 0);
  assert.match(stdout, /^Firestore +\d/m);
  assert.match(stdout, /Do not use Codaflow above that/);
  const { months } = JSON.parse(run('--json').stdout) as { months: unknown[] };
  assert.equal(months.length, 3);
  for (const [option, value, message] of [
    ['--size', 'abc', /--size must be a number from 1 to 10000000, not "abc"/],
    ['--events', '1e6,', /--events must be a number/],
    ['--arrival', 'late', /--arrival must be apart or together, not "late"/],
    ['--colour', 'red', /Unknown option/],
  ] as const) {
    const wrong = run(option, value);
    assert.equal(wrong.status, 2, option);
    assert.match(wrong.stderr, message);
  }
});
