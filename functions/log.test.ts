import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TransientError } from './core/errors.ts';
import { forRequest, jsonLog, traceOf } from './log.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

test('the trace of a request', () => {
  assert.equal(traceOf({ traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }), TRACE);
  assert.equal(traceOf({ 'x-cloud-trace-context': `${TRACE.toUpperCase()}/123;o=1` }), TRACE);
  assert.equal(traceOf({ traceparent: 'nonsense', 'x-cloud-trace-context': '' }), null);
  assert.equal(traceOf({}), null);
});

test('one line of JSON for each entry, under the trace, with the error and its cause', () => {
  const lines: string[] = [];
  const log = forRequest(
    jsonLog((line) => lines.push(line)),
    'p',
    { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
  );
  log({
    severity: 'ERROR',
    event: 'x',
    message: 'two\nlines',
    error: new TransientError('unavailable', 'down', new Error('why')),
  });
  assert.equal(lines.length, 1);
  assert.ok(lines[0]!.endsWith('\n') && lines[0]!.indexOf('\n') === lines[0]!.length - 1);
  const entry = JSON.parse(lines[0]!) as { error: { code: string; cause: { message: string } } } & Record<
    string,
    unknown
  >;
  assert.equal(entry['logging.googleapis.com/trace'], `projects/p/traces/${TRACE}`);
  assert.equal(entry['message'], 'two\nlines');
  assert.deepEqual([entry.error.code, entry.error.cause.message], ['unavailable', 'why']);
});
