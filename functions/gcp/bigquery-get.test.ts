import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { BigQuery } from '@google-cloud/bigquery';
import { getLarge } from './bigquery-get.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

let answer: (response: http.ServerResponse) => void;
let requests: string[] = [];
const server = http.createServer((request, response) => {
  requests.push(request.url!);
  answer(response);
});
let client: BigQuery;

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const apiEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = new BigQuery({ projectId: 'local-project', apiEndpoint, autoRetry: false });
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
});

const get = () => getLarge<unknown>(client, '/queries/j', { maxResults: 10 });

test('an answer in pieces that cut its characters', async () => {
  const value = { rows: Array.from({ length: 3000 }, (_, i) => `${i} Zürich 🚲 値 "\\`) };
  const body = Buffer.from(JSON.stringify(value));
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    for (let at = 0; at < body.length; at += 7777) response.write(body.subarray(at, at + 7777));
    response.end();
  };
  // Several at once, so that memory given back too early would show.
  for (const got of await Promise.all([get(), get(), get()])) assert.deepEqual(got, value);
  assert.match(requests[0]!, /\/projects\/local-project\/queries\/j\?maxResults=10&/);
});

test('a refusal has its status and reasons, one in other words its status', async () => {
  const error = { code: 404, message: 'no such job', errors: [{ reason: 'notFound' }] };
  answer = (response) => response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  await assert.rejects(get(), { message: 'no such job', code: 404, errors: [{ reason: 'notFound' }] });
  answer = (response) => response.writeHead(403).end('<p>not here</p>');
  await assert.rejects(get(), { message: 'status 403', code: 403, errors: [] });
});

test('an answer that breaks off or is no JSON', async () => {
  answer = (response) => {
    response.writeHead(200, { 'content-length': 100_000 });
    response.write('{"rows":["', () => response.destroy());
  };
  await assert.rejects(get());
  answer = (response) => response.end('{"rows":["');
  await assert.rejects(get(), SyntaxError);
});

test('no answer, and an outage', async () => {
  answer = (response) => response.destroy();
  await assert.rejects(get());
  answer = (response) => response.writeHead(503).end('{}');
  await assert.rejects(get(), { code: 503 });
  assert.equal(requests.length, 2);
});
