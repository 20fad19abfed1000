import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { loadConfig } from '../config.ts';
import { PermanentError, TransientError } from '../core/errors.ts';
import { decodeWatch, type HttpProbe } from '../core/watch/spec.ts';
import { checkedLookup, isPublic, mayCall } from './addresses.ts';
import { createHttpProbe } from './probe-http.ts';

let port: number;
let seen: http.IncomingMessage[] = [];
let answer: (request: http.IncomingMessage, response: http.ServerResponse) => void;
const server = http.createServer((request, response) => {
  seen.push(request);
  answer(request, response);
});

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  seen = [];
  answer = (_request, response) => response.end('{"status":"done"}');
});

const local = (path = '/') => `http://127.0.0.1:${port}${path}`;
function call(url: string, settings: Record<string, string> = {}, probe: object = {}, env = {}) {
  const hosts = `127.0.0.1:${port},localhost:${port}`;
  const config = loadConfig({ PROJECT_ID: 'local-project', PROBE_HOSTS: hosts, PROBE_PRIVATE: 'true', ...settings });
  const spec = decodeWatch({ watch_id: 'w', unique_key: 'k', probe: { type: 'http', url, ...probe } });
  return createHttpProbe({ config }, env)(spec.probe as HttpProbe);
}

describe('an HTTP probe', () => {
  test('brings the answer, with its headers and secrets', async () => {
    const headers = { Authorization: { secret: 'ORDERS' }, 'X-Who': 'me' };
    const answered = await call(local('/a?b=c'), {}, { headers }, { PROBE_SECRET_ORDERS: 'Bearer x\n' });
    assert.deepEqual([answered.status, answered.body], [200, '{"status":"done"}']);
    const { url, headers: got } = seen[0]!;
    assert.deepEqual([url, got.authorization, got['x-who'], got['accept-encoding']], ['/a?b=c', 'Bearer x', 'me', 'identity']); // prettier-ignore
    await assert.rejects(call(local(), {}, { headers }), TransientError);
    assert.equal(seen.length, 1, 'nothing is asked without the secret');
  });

  test('sends a body with POST only', async () => {
    const body = new Promise<string>((resolve) => {
      answer = (request, response) => {
        let text = '';
        request
          .on('data', (chunk: Buffer) => (text += chunk.toString()))
          .on('end', () => {
            resolve(text);
            response.end('{}');
          });
      };
    });
    await call(local(), {}, { method: 'POST', body: '{"q":1}' });
    assert.equal(await body, '{"q":1}');
  });

  test('goes to no other host, whatever the watch or a redirect says', async () => {
    await assert.rejects(call('http://127.0.0.2/'), PermanentError);
    await assert.rejects(call(local(), { PROBE_HOSTS: '' }), PermanentError);
    for (const location of [
      'http://169.254.169.254/',
      `http://localhost:${port}/`,
      `https://127.0.0.1:${port}/`,
      '//example.com/',
      'ftp://x/',
    ]) {
      answer = (_request, response) => response.writeHead(302, { location }).end();
      seen = [];
      await assert.rejects(call(local()), (error) => error instanceof PermanentError && /another host/.test(error.message)); // prettier-ignore
      assert.equal(seen.length, 1, location);
    }
  });

  test('follows redirects of the same host, but not for ever', async () => {
    answer = ({ url }, response) => {
      if (url === '/a') response.writeHead(301, { location: '/b' }).end();
      else response.end('{}');
    };
    assert.equal((await call(local('/a'))).status, 200);
    answer = (_request, response) => response.writeHead(302, { location: '/' }).end();
    await assert.rejects(call(local()), /more than 3 times/);
  });

  test('has a limit of size and one of time', async () => {
    answer = (_request, response) => response.end('x'.repeat(300 * 1024));
    await assert.rejects(call(local()), (error) => error instanceof PermanentError && /bytes/.test(error.message));
    answer = (_request, response) => response.write('{');
    await assert.rejects(call(local(), { PORT_DEADLINE: '200ms' }), { code: 'deadline_exceeded' });
  });

  test('a refused connection and an answer cut short may pass', async () => {
    await assert.rejects(call('http://127.0.0.1:1/', { PROBE_HOSTS: '127.0.0.1:1' }), TransientError);
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{');
      setImmediate(() => response.destroy());
    };
    await assert.rejects(call(local()), TransientError);
  });

  test('private addresses are refused: as literals, in every spelling, and behind a name', async () => {
    const strict = { PROBE_PRIVATE: 'false' };
    await assert.rejects(call(local(), strict), /not public/);
    await assert.rejects(call(`http://localhost:${port}/`, strict), /not public/);
    for (const host of ['2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '0', '169.254.169.254']) {
      const url = new URL(`http://${host}:${port}/`);
      await assert.rejects(call(url.href, { ...strict, PROBE_HOSTS: url.host }), /not public/, host);
    }
    assert.equal(seen.length, 0, 'nobody was called');
  });
});

test('addresses inside', () => {
  const inside = ['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.255.255', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.168.1.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '::', '::1', '::ffff:8.8.8.8', '64:ff9b::7f00:1', 'fc00::1', 'fd12::1', 'fe80::1', 'fe80::1%eth0', 'ff02::1', '2002:7f00:1::', '2001:db8::1', '2001::1', 'nonsense']; // prettier-ignore
  for (const address of inside) assert.equal(isPublic(address), false, address);
  for (const address of [
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '192.0.3.1',
    '2606:4700::1111',
    '2a00:1450:4001:80b::200e',
  ]) {
    assert.equal(isPublic(address), true, address);
  }
});

test('a name is refused when one of its addresses is inside', async () => {
  const failure = await new Promise((resolve) => checkedLookup(false)('localhost', {}, (error) => resolve(error)));
  assert.ok(failure instanceof PermanentError);
});

test('the metadata server is refused even where private addresses are allowed', async () => {
  for (const host of ['169.254.169.254', '2852039166', '[::ffff:169.254.169.254]', '[fd20:ce::254]', '[fe80::1]']) {
    const url = new URL(`http://${host}/computeMetadata/v1/`);
    const headers = { 'metadata-flavor': 'Google' };
    await assert.rejects(call(url.href, { PROBE_HOSTS: url.host, PORT_DEADLINE: '500ms' }, { headers }), /link-local/);
  }
  for (const [address, may] of [
    ['127.0.0.1', true],
    ['10.1.2.3', true],
    ['fd12::1', true],
    ['8.8.8.8', true],
    ['169.254.1.1', false],
    ['fe80::1%eth0', false],
  ] as const)
    assert.equal(mayCall(address, true), may, address);
});
