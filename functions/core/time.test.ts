import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { acceptedRange, DAY, formatMicros, parseEpoch, parseRfc3339 } from './time.ts';

const NOON = 1_704_448_800_000_000; // 2024-01-05T10:00:00Z
const YEAR_1000 = Date.UTC(1000, 0) * 1000;
const YEAR_9999 = Date.UTC(9999, 11, 31, 23, 59, 59) * 1000;
const anyTime = fc.integer({ min: -2_208_988_800_000_000, max: 4_102_444_800_000_000 });

function micros(text: string): number | undefined {
  return parseRfc3339(text)?.micros;
}

describe('RFC 3339', () => {
  test('round trip to the microsecond', () => {
    fc.assert(
      fc.property(
        anyTime,
        (time) => micros(formatMicros(time)) === time && !parseRfc3339(formatMicros(time))!.normalised,
      ),
    );
  });

  test('agrees with the calendar of Date for all whole milliseconds', () => {
    const millis = fc.integer({ min: YEAR_1000 / 1000, max: YEAR_9999 / 1000 });
    fc.assert(
      fc.property(millis, (ms) => micros(new Date(ms).toISOString()) === ms * 1000),
      { numRuns: 2000 },
    );
  });

  test('offsets', () => {
    assert.equal(micros('2024-01-05T12:00:00+02:00'), NOON);
    assert.equal(micros('2024-01-05T04:30:00-05:30'), NOON);
    assert.equal(micros('2024-01-05T10:00:00-00:00'), NOON);
    fc.assert(
      fc.property(
        anyTime,
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 0, max: 59 }),
        fc.constantFrom(1, -1),
        (time, h, m, sign) => {
          const local = formatMicros(time + sign * (h * 60 + m) * 60e6).slice(0, -1);
          const offset = `${sign > 0 ? '+' : '-'}${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}`;
          return micros(local + offset) === time;
        },
      ),
    );
  });

  test('fractions are cut off at six digits, never rounded', () => {
    assert.equal(micros('2024-01-05T10:00:00.1Z'), NOON + 100_000);
    assert.equal(micros('2024-01-05T10:00:00.184708Z'), NOON + 184_708);
    assert.deepEqual(parseRfc3339('2024-01-05T10:00:00.999999999Z'), { micros: NOON + 999_999, normalised: true });
  });

  test('what is normalised', () => {
    for (const text of ['2024-01-05T10:00:00', '2024-01-05 10:00:00', '2024-01-05T10:00:00.1234567Z']) {
      assert.equal(parseRfc3339(text)?.normalised, true, text);
    }
    for (const text of ['2024-01-05T10:00:00Z', '2024-01-05t10:00:00z', '2024-01-05 10:00:00.000001+00:00']) {
      assert.equal(parseRfc3339(text)?.normalised, false, text);
    }
  });

  test('a leap second is the first second of the next day, and nothing else ends in :60', () => {
    assert.deepEqual(parseRfc3339('2016-12-31T23:59:60.25Z'), {
      micros: Date.UTC(2017, 0) * 1000 + 250_000,
      normalised: true,
    });
    assert.equal(micros('2017-01-01T01:59:60+02:00'), Date.UTC(2017, 0) * 1000);
    assert.equal(micros('2016-12-31T23:58:60Z'), undefined);
    assert.equal(micros('2016-12-31T22:59:60Z'), undefined);
    assert.equal(micros('2016-12-31T23:59:61Z'), undefined);
  });

  test('only dates of the calendar', () => {
    assert.notEqual(micros('2024-02-29T00:00:00Z'), undefined);
    assert.notEqual(micros('2000-02-29T00:00:00Z'), undefined);
    for (const date of [
      '2024-02-30',
      '2023-02-29',
      '1900-02-29',
      '2024-04-31',
      '2024-13-01',
      '2024-00-10',
      '2024-01-00',
      '2024-01-32',
    ]) {
      assert.equal(micros(`${date}T10:00:00Z`), undefined, date);
    }
  });

  test('nothing that readers disagree about', () => {
    const texts = ['2024-01-05', '2024-01-05 10:00', '2024-01-05T10Z', '2024-01-05T24:00:00Z', '2024-01-05T10:60:00Z', '2024-01-05T10:00:00+25:00', '2024-01-05T10:00:00+02', '2024-01-05T10:00:00+0200', '2024-01-05T10:00:00,5Z', '2024-01-05T10:00:00.Z', '2024-1-5T10:00:00Z', '24-01-05T10:00:00Z', 'Fri, 05 Jan 2024 10:00:00 +0200', ' 2024-01-05T10:00:00Z', '2024-01-05T10:00:00Z ', '2024-01-05  10:00:00Z', '+002024-01-05T10:00:00Z', '12', '']; // prettier-ignore
    for (const text of texts) assert.equal(parseRfc3339(text), null, text);
  });

  test('the time zone of the machine does not matter', () => {
    const script = `import { parseRfc3339 } from ${JSON.stringify(path.resolve(import.meta.dirname, 'time.ts'))};
      console.log(['2024-01-05T10:00:00', '2024-07-05 10:00:00', '2024-03-31T02:30:00'].map((t) => parseRfc3339(t).micros).join());`;
    const read = (TZ: string) =>
      execFileSync(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...process.env, TZ },
        encoding: 'utf8',
      });
    assert.equal(read('Europe/Berlin'), read('UTC'));
    assert.ok(read('Pacific/Auckland').startsWith(String(NOON)));
  });
});

describe('epoch numbers', () => {
  test('the unit follows from the digits before the point', () => {
    const cases: [string, number | null][] = [
      ['1704448800', NOON],
      ['1704448800.5', NOON + 500_000],
      ['1704448800.1234567', NOON + 123_456],
      ['1.7044488e9', NOON],
      ['17044488E+2', NOON],
      ['1704448800000', NOON],
      ['1704448800000.25', NOON + 250],
      ['1704448800000000', NOON],
      ['1704448800184708', NOON + 184_708],
      ['1704448800184708999', NOON + 184_708],
      ['001704448800', NOON],
      // The borders of each unit.
      ['99999999', null],
      ['100000000', 1e14],
      ['99999999999', null],
      ['100000000000', 1e14],
      ['99999999999999', null],
      ['100000000000000', 1e14],
      ['99999999999999999', null],
      ['100000000000000000', 1e14],
      ['99999999999999999999', null],
      ['100000000000000000000', null],
      ['9007199254', 9_007_199_254e6],
      ['-1704448800', -NOON],
      ['-1704448800.0000001', -NOON - 1],
      ['12', null],
      ['0', null],
      ['1e400', null],
      ['1e99999', null],
      ['', null],
      ['NaN', null],
    ];
    for (const [text, expected] of cases) assert.equal(parseEpoch(text)?.micros ?? null, expected, text);
  });

  test('every instant reads the same in every unit', () => {
    const time = fc.bigInt({ min: 100_000_000_000_000_000n, max: 4_102_444_800_000_000_000n });
    fc.assert(
      fc.property(time, (nanos) => {
        const text = nanos.toString();
        const expected = Number(nanos / 1000n);
        for (const decimals of [9, 6, 3]) {
          const split = `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
          assert.equal(parseEpoch(split)?.micros, expected, split);
          assert.equal(parseEpoch(`${split}e0`)?.micros, expected);
        }
        assert.equal(parseEpoch(text)?.micros, expected);
      }),
    );
  });
});

describe('the accepted range', () => {
  test("lies inside BigQuery's streaming range by a day at each end", () => {
    const { from, to } = acceptedRange(NOON, 'DAY', 0);
    assert.ok(from >= Date.UTC(2014, 0, 6, 10) * 1000);
    assert.ok(to <= Date.UTC(2025, 0, 4, 10) * 1000);
    assert.ok(to - from > 10.9 * 365 * DAY);
  });

  test('a partition expiration ends the past sooner', () => {
    assert.deepEqual(acceptedRange(NOON, 'DAY', 30 * DAY).from, NOON - 29 * DAY);
    assert.deepEqual(acceptedRange(NOON, 'DAY', DAY).from, NOON - DAY / 2);
  });

  test('hourly partitions stay under 10,000', () => {
    for (const days of [1, 30, 200, 400]) {
      const { from, to } = acceptedRange(NOON, 'HOUR', days * DAY);
      assert.ok(to > NOON && (to - from) / 3600e6 < 10_000, String(days));
    }
  });
});
