import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJoin } from './settings.ts';

const defaults = { topic: 'results', lookback: 600e6, step: 21_600e6, lag: 60e6, wait: 600e6, maxBytesBilled: 1e10 };

test('an empty file is the default join', () => {
  const join = parseJoin('enrich', 'SELECT 1;\n', {}, defaults);
  assert.equal(join.query, 'SELECT 1');
  assert.equal(join.schedule, '*/2 * * * *');
  assert.equal(join.source.table, 'events');
  assert.equal(join.unmatched, 'wait');
});

test('every problem is reported at once, with the value that was found', () => {
  const file = { lag: 5, order: 'a', sauce: 1, wait: '20m', source: { table: 't', key: 'k' } };
  assert.throws(
    () => parseJoin('Bad-Name', '', file, defaults),
    (error: Error) => {
      for (const part of [
        'lag must be a duration',
        'got 5',
        'order must be',
        'sauce is unknown',
        'wait must not be longer',
        'source.id is missing',
        'source.time is missing',
        'Bad-Name',
        'query.sql is empty',
      ]) {
        assert.ok(error.message.includes(part), `${part} in ${error.message}`);
      }
      return true;
    },
  );
});

test('attributes that Pub/Sub would refuse, or that Codaflow sets itself, are refused', () => {
  for (const name of ['goog_x', 'result_id', 'join', 'unique_key', 'a'.repeat(257)])
    assert.throws(() => parseJoin('a', 'SELECT 1', { attributes: [name] }, defaults), /attributes must be a list/);
  const many = Array.from({ length: 98 }, (_, i) => `a${i}`);
  assert.throws(() => parseJoin('a', 'SELECT 1', { attributes: many }, defaults), /more than 97/);
});

test('null is as good as absent', () => {
  const source = { table: 'clicks', key: 'k', id: 'i', time: 't', arrival: null };
  assert.equal(parseJoin('a', 'SELECT 1', { source, ordering_key: null }, defaults).source.arrival, null);
});

test('a lookback below the floor is refused: a wait would outlive it', () => {
  assert.throws(
    () => parseJoin('a', 'SELECT 1', { lookback: '1m', wait: '0s' }, defaults),
    /lookback must not be shorter/,
  );
});

test('a column that the message needs cannot be left out of it', () => {
  assert.throws(
    () => parseJoin('a', 'SELECT 1', { omit: ['region', 'age'], attributes: ['region'] }, defaults),
    /omit leaves out region, which the message needs/,
  );
});
