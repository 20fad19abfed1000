import fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../functions/config.ts';
import { decode } from '../../functions/core/decode/decode.ts';
import { PermanentError } from '../../functions/core/errors.ts';
import { acceptedRange } from '../../functions/core/time.ts';
import { readEvent } from './read-event.ts';

/** The check must not share the mistakes of the functions; what it reads must be the same all the same. */

const NOW = Date.UTC(2024, 5, 1) * 1000;
const NAMES = loadConfig({ PROJECT_ID: 'local-project' }).eventFields;

function alike(text: string): void {
  const message = { data: Buffer.from(text), attributes: {}, messageId: 'm' };
  let found: unknown;
  try {
    const { extra: _, normalised: __, ...event } = decode(message, NAMES, acceptedRange(NOW, 'DAY', 0));
    found = event;
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    found = error.code;
  }
  assert.deepEqual(readEvent({ ...message, time: NOW }), found, text.slice(0, 200));
}

const event = (members: string) =>
  `{"unique_key":"k","event_id":"e","event_status":"s","timestamp":"2024-01-05T10:00:00Z",${members}}`;
const timed = (timestamp: string) =>
  alike(`{"unique_key":"k","event_id":"e","event_status":"s","timestamp":${timestamp}}`);

test('times are read alike', () => {
  const two = (...numbers: number[]) => fc.constantFrom(...numbers).map((number) => String(number).padStart(2, '0'));
  const offset = fc.oneof(fc.constantFrom('Z', 'z', ''), fc.tuple(fc.constantFrom('+', '-'), two(0, 1, 23, 24), two(0, 30, 59, 60)).map(([sign, hour, minute]) => `${sign}${hour}:${minute}`)); // prettier-ignore
  const fraction = fc.oneof(fc.constant(''), fc.string({ unit: fc.constantFrom('0', '9'), maxLength: 9 }).map((digits) => `.${digits}`)); // prettier-ignore
  const text = fc.tuple(fc.constantFrom('2024-02-29', '2023-02-29', '2024-12-31', '2016-12-31', '2014-06-02'), fc.constantFrom('T', 't', ' '), two(0, 10, 22, 23, 24), two(0, 29, 59, 60), two(0, 59, 60, 61), fraction, offset); // prettier-ignore
  fc.assert(fc.property(text, ([day, t, hour, minute, second, part, zone]) => timed(`"${day}${t}${hour}:${minute}:${second}${part}${zone}"`)), { numRuns: 2000 }); // prettier-ignore
  for (const leap of ['2023-12-31T23:59:60Z', '2023-12-31T22:59:60-01:00', '2024-01-01T00:00:60Z']) timed(`"${leap}"`);
});

test('epoch numbers are read alike', () => {
  for (let digits = 1; digits <= 22; digits++) {
    for (const sign of ['', '-']) {
      const number = sign + '17044488001234567890123'.slice(0, digits);
      timed(number);
      timed(`"${number}"`);
    }
  }
});

test('nesting is read alike, closed or not', () => {
  for (const depth of [1, 499, 500, 501, 502, 20_000]) {
    const deep = '['.repeat(depth) + ']'.repeat(depth);
    for (const text of [deep, '['.repeat(depth), event(`"payload":${deep}`), event(`"other":${deep}`)]) alike(text);
  }
});

test('megabytes of escapes, brackets and letters are read alike', () => {
  for (const unit of ['\\n', '\\"', '\\\\', '[', '{', 'x', '😀']) {
    alike(event(`"payload":"${unit.repeat(7_000_000 / Buffer.byteLength(unit))}"`));
  }
});
