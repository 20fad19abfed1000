import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkTarget } from './hosts.ts';
import { judgeHttp, judgeJob } from './judge.ts';
import { decodeWatch, type HttpProbe } from './spec.ts';

const probe = (changes: object = {}): HttpProbe => {
  const http = {
    type: 'http',
    url: 'https://api.example.com/x',
    ready: { pointer: '/a/0', equals: 'done' },
    ...changes,
  };
  return decodeWatch({ watch_id: 'w', unique_key: 'k', probe: http }).probe as HttpProbe;
};
const kind = (one: HttpProbe, status: number, body: string) => judgeHttp(one, { status, body }).kind;

test('an HTTP answer is ready, pending or failed', () => {
  const one = probe({ failed: { pointer: '/error', equals: true } });
  assert.equal(kind(one, 200, '{"a":["done"]}'), 'ready');
  for (const body of ['{"a":["doing"]}', '{"a":[]}', '{"a":"done"}', 'null', '', '<html>', '{"a":["done"]']) {
    assert.equal(kind(one, 200, body), 'pending', body);
  }
  assert.equal(kind(one, 200, '{"a":["done"],"error":true}'), 'failed');
  for (const status of [404, 408, 409, 425, 429, 500, 502, 503, 302]) assert.equal(kind(one, status, '{"a":["done"]}'), 'pending', String(status)); // prettier-ignore
  for (const status of [400, 401, 403, 410])
    assert.equal(kind(one, status, '{"a":["done"]}'), 'failed', String(status));
});

test('values are compared by type; without a condition every 2xx is ready', () => {
  const equals = (value: unknown, body: string) => kind(probe({ ready: { pointer: '/v', equals: value } }), 200, body);
  assert.deepEqual([equals(1, '{"v":1.0}'), equals('1', '{"v":1}'), equals(null, '{"v":null}'), equals(null, '{}'), equals(true, '{"v":true}')], ['ready', 'pending', 'ready', 'pending', 'ready']); // prettier-ignore
  assert.equal(kind(probe({ ready: { pointer: '', equals: 'up' } }), 200, '"up"'), 'ready');
  assert.deepEqual(judgeHttp(probe({ ready: null }), { status: 204, body: '' }), { kind: 'ready', answer: null });
});

test('a job', () => {
  assert.equal(judgeJob({ state: 'absent' }).kind, 'pending');
  assert.equal(judgeJob({ state: 'running' }).kind, 'pending');
  assert.deepEqual(judgeJob({ state: 'done', statistics: { bytes_processed: 7 } }), { kind: 'ready', answer: '{"bytes_processed":7}' }); // prettier-ignore
  assert.deepEqual(judgeJob({ state: 'failed', reason: 'invalidQuery', message: 'no' }), { kind: 'failed', reason: 'invalidQuery: no', answer: null }); // prettier-ignore
});

test('hosts: exact, below a domain, with a port; nothing else', () => {
  const allowed = (url: string, ...probeHosts: string[]) => {
    try {
      checkTarget({ url, headers: {} }, { probeHosts, probePrivate: false });
      return true;
    } catch {
      return false;
    }
  };
  assert.ok(allowed('https://api.example.com/x', 'api.example.com'));
  assert.ok(allowed('https://API.example.com/x', 'Api.Example.com'));
  assert.ok(allowed('https://a.b.example.com/', '*.example.com'));
  assert.ok(allowed('https://example.com:8443/', 'example.com:8443'));
  assert.ok(allowed('https://example.com/', 'example.com:443'));
  assert.ok(allowed('http://a.example.com/', '*.example.com:80'));
  assert.equal(allowed('https://example.com/', 'example.com:80'), false);
  assert.equal(allowed('https://example.com/', '*.example.com'), false);
  assert.equal(allowed('https://evilexample.com/', '*.example.com'), false);
  assert.equal(allowed('https://example.com.evil.org/', 'example.com'), false);
  assert.equal(allowed('https://example.com:22/', 'example.com'), false);
  assert.equal(allowed('https://example.com/'), false);
  const secret = { url: 'http://example.com/', headers: { a: { secret: 'A' } } };
  assert.throws(() => checkTarget(secret, { probeHosts: ['example.com'], probePrivate: false }), /https/);
});
