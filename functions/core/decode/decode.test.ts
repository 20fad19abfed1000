import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { messageCases } from '../../../test/cases/messages.ts';
import { loadConfig } from '../../config.ts';
import type { Event } from '../event.ts';
import { PermanentError } from '../errors.ts';
import { acceptedRange, formatMicros } from '../time.ts';
import { decode } from './decode.ts';
import { decodeIdentity } from './identity.ts';
import { MAX_ROW } from './limits.ts';
import { toRow } from './row.ts';

const NOW = Date.UTC(2024, 5, 1) * 1000;
const RANGE = acceptedRange(NOW, 'DAY', 0);
const NAMES = loadConfig({ PROJECT_ID: 'local-project' }).eventFields;

function read(data: string | Uint8Array, attributes: Record<string, string> = {}, names = NAMES): Event {
  const delivery = { data: Buffer.from(data), attributes, messageId: 'm-1', publishTime: null };
  const event = decode(delivery, names, RANGE);
  toRow(event, delivery, NOW);
  return event;
}

function codeOf(data: string | Uint8Array, attributes: Record<string, string> = {}): string {
  try {
    read(data, attributes);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    assert.ok(!error.message.includes('\n') && error.message.length < 250, error.message);
    return error.code;
  }
}

const BASE = { unique_key: 'k', event_status: 'started', timestamp: '2024-01-05T10:00:00Z' };
const json = (changes: object = {}) => JSON.stringify({ ...BASE, ...changes });
/** The base event with a member given by its source text. */
const raw = (name: string, source: string) => `${json().slice(0, -1)},${JSON.stringify(name)}:${source}}`;

describe('messages that broke other systems', () => {
  for (const { id, failure, messages } of messageCases()) {
    test(`${id}: ${failure}`, () => {
      for (const { data, attributes, expected } of messages) {
        if ('code' in expected) assert.equal(codeOf(data, attributes), expected.code);
        else {
          const event = read(data, attributes);
          assert.deepEqual(
            {
              time: formatMicros(event.eventTime),
              normalised: event.normalised,
              event_id: event.eventId,
              unique_key: event.uniqueKey,
              event_status: event.eventStatus,
              payload: event.payload,
              extra: event.extra,
            },
            expected,
          );
        }
      }
    });
  }

  test('DEC-19: many levels of nesting are kept as text', () => {
    const payload = '{"a":'.repeat(21) + '1' + '}'.repeat(21);
    assert.equal(read(raw('payload', payload)).payload, payload);
    assert.equal(codeOf(raw('payload', '['.repeat(100_000) + ']'.repeat(100_000))), 'too_deep');
  });

  test('DEC-23: a small compressed body that expands beyond every limit', () => {
    const bomb = gzipSync(json({ payload: { x: '0'.repeat(50_000_000) } }));
    const before = process.memoryUsage().arrayBuffers;
    assert.equal(codeOf(bomb, { 'content-encoding': 'gzip' }), 'too_large');
    assert.ok(process.memoryUsage().arrayBuffers - before < 40_000_000);
  });

  test('as much of anything as a message can hold is an event or has a code', () => {
    const units = ['A', '1', ' ', '\n', '{', '"', '\\u0041', '😀', '{"a":', '1,'];
    const before = ['', '{', '["', '{"timestamp":', '{"timestamp":"1', json().slice(0, -1), raw('payload', '"').slice(0, -2)]; // prettier-ignore
    for (const unit of units) {
      const mass = unit.repeat(9_900_000 / Buffer.byteLength(unit));
      // Fails by what it throws.
      for (const start of before) codeOf(start + mass);
    }
  });

  test('BQ-08: a row above the limit', () => {
    assert.equal(codeOf(json({ payload: { blob: 'x'.repeat(11_000_000) } })), 'too_large');
    assert.equal(codeOf(json({ payload: 'x'.repeat(MAX_ROW - 1000) })), 'accepted');
    assert.equal(codeOf(json({ payload: 'x'.repeat(MAX_ROW) })), 'too_large');
  });

  test('PUB-13: without an id the message id, which stays over redeliveries', () => {
    assert.equal(read(json()).eventId, 'm-1');
  });
});

describe('decode', () => {
  test('any payload and any other member keep their source text', () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), (payload, other) => {
        const event = read(`{"payload":${payload},"other":${other},${json().slice(1)}`);
        assert.equal(event.payload, payload.trim() === 'null' ? null : payload.trim());
        assert.equal(event.extra, `{"other":${other.trim()}}`);
      }),
    );
  });

  test('texts are never trimmed or folded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        fc.pre(text.trim() !== '' && !text.includes('\0'));
        const event = read(json({ unique_key: text, event_status: text, event_id: text, join_key: text }));
        assert.deepEqual([event.uniqueKey, event.eventStatus, event.eventId, event.joinKey], [text, text, text, text]);
      }),
    );
  });

  test('the id: member, attribute, message id', () => {
    assert.equal(read(json({ event_id: 'e-1' }), { event_id: 'a-1' }).eventId, 'e-1');
    assert.equal(read(json(), { event_id: 'a-1' }).eventId, 'a-1');
    assert.equal(read(json({ event_id: null }), { event_id: 'a-1' }).eventId, 'a-1');
    assert.equal(codeOf(json({ event_id: '' })), 'missing_event_id');
    assert.equal(codeOf(json(), { event_id: '' }), 'missing_event_id');
    assert.equal(codeOf(json({ event_id: 7 })), 'wrong_type');
  });

  test('required members', () => {
    assert.equal(codeOf('{}'), 'missing_key');
    assert.equal(codeOf(json({ unique_key: null })), 'missing_key');
    assert.equal(codeOf(json({ event_status: undefined })), 'missing_field');
    assert.equal(codeOf(json({ event_status: ' ' })), 'missing_field');
    assert.equal(codeOf(json({ timestamp: null })), 'missing_field');
    assert.equal(codeOf(json({ timestamp: true })), 'wrong_type');
  });

  test('bounds are bytes of UTF-8', () => {
    assert.equal(codeOf(json({ unique_key: '鍵'.repeat(500) })), 'accepted');
    assert.equal(codeOf(json({ unique_key: '鍵'.repeat(500) + 'x' })), 'too_large');
    for (const [name, bytes] of Object.entries({ event_status: 2048, event_id: 1024, join_key: 1024 })) {
      assert.equal(codeOf(json({ [name]: 'é'.repeat(bytes / 2) })), 'accepted');
      assert.equal(codeOf(json({ [name]: 'é'.repeat(bytes / 2) + 'x' })), 'too_large');
    }
  });

  test('join_key may be null, absent or empty, and is not guessed', () => {
    assert.deepEqual(
      [read(json()).joinKey, read(json({ join_key: null })).joinKey, read(json({ join_key: '' })).joinKey],
      [null, null, ''],
    );
  });

  test('sequence', () => {
    assert.equal(read(raw('sequence', '12')).sequence, 12);
    assert.equal(read(raw('sequence', 'null')).sequence, null);
    for (const source of ['0', '-1', '1.0', '1e3', '"1"', '9007199254740993', 'true', '[]']) {
      assert.equal(codeOf(raw('sequence', source)), 'wrong_type', source);
    }
  });

  test('halves of surrogate pairs', () => {
    for (const name of ['event_id', 'join_key', 'payload'])
      assert.equal(codeOf(raw(name, '"a\\ud800"')), 'invalid_unicode', name);
    assert.equal(codeOf(raw('payload', '{"deep":["\\udc00"]}')), 'invalid_unicode');
    assert.equal(read(raw('other', '"\\ud800"')).extra, '{"other":"\\ud800"}');
  });

  test('out of range', () => {
    assert.equal(codeOf(json({ timestamp: '2001-01-01T00:00:00Z' })), 'timestamp_out_of_range');
    assert.equal(codeOf(json({ timestamp: '2099-01-01T00:00:00Z' })), 'timestamp_out_of_range');
    assert.equal(codeOf(json({ timestamp: 1 })), 'invalid_timestamp');
  });

  test('the published timestamp stays when it was normalised, beside a member of that name', () => {
    const event = read(json({ timestamp: 1704448800.5, 'codaflow.timestamp': 'mine' }));
    assert.equal(event.extra, '{"codaflow.timestamp":"mine","codaflow.timestamp_":1704448800.5}');
  });

  test('producers may call the members otherwise', () => {
    const names = loadConfig({
      PROJECT_ID: 'local-project',
      EVENT_FIELDS: 'unique_key=user_id,event_status=action',
    }).eventFields;
    const event = read(
      '{"user_id":"u","action":"a","unique_key":"other","timestamp":"2024-01-05T10:00:00Z"}',
      {},
      names,
    );
    assert.deepEqual([event.uniqueKey, event.eventStatus, event.extra], ['u', 'a', '{"unique_key":"other"}']);
  });

  test('encodings', () => {
    assert.equal(read(gzipSync(json()), { 'content-encoding': 'gzip' }).uniqueKey, 'k');
    assert.equal(codeOf(json(), { 'content-encoding': 'gzip' }), 'unsupported_encoding');
    assert.equal(codeOf(json(), { 'content-encoding': 'br' }), 'unsupported_encoding');
    assert.equal(codeOf(new Uint8Array()), 'empty_data');
  });

  test('any bytes give an event or a permanent error', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => codeOf(bytes) !== ''));
  });

  test('the likely identity of what cannot be read', () => {
    const identity = (data: string, attributes = {}) =>
      decodeIdentity({ data: Buffer.from(data), attributes, messageId: 'm-1' }, NAMES);
    assert.deepEqual(identity('{bad'), { eventId: 'm-1', uniqueKey: null });
    assert.deepEqual(identity('{"unique_key":"k","event_id":"e"}'), { eventId: 'e', uniqueKey: 'k' });
    assert.deepEqual(identity('{"unique_key":"k","unique_key":"l"}', { event_id: 'a' }), {
      eventId: 'a',
      uniqueKey: null,
    });
    assert.deepEqual(identity('{"unique_key":"\\ud800"}'), { eventId: 'm-1', uniqueKey: null });
  });
});
