import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { namesOf } from './fields.ts';
import { invitation } from './invitation.ts';

const cloud = { addresses: { PUBSUB_EMULATOR_HOST: '127.0.0.1:1' }, functions: {}, tasks: null } as unknown as Parameters<typeof invitation>[0]; // prettier-ignore
const reference = [{ join_key: 'A', target_attribute: null, updated_at: null }];

test('the invitation completes a key by the statuses of this run', () => {
  const text = invitation(cloud, { completion: ['shipped', 'returned', 'lost'], reference });
  assert.match(text, /"shipped", "returned" or "lost" completes the key/);
  assert.match(text, /event_status: "shipped",/);
  assert.match(text, /join_key: "A",/);
  assert.doesNotMatch(text, /arrived/);
});

test('no status breaks out of the quotes of the shell', () => {
  const status = `it's "done" $(exit 1) \\`;
  const text = invitation(cloud, { completion: [status], reference: [] });
  const value = /event_status: (.*),$/m.exec(text)![1]!;
  assert.equal(JSON.parse(execFileSync('sh', ['-c', `printf %s '${value}'`], { encoding: 'utf8' })), status);
});

test('members are called as the run calls them', () => {
  const names = namesOf("unique_key=id,event_status=order status,timestamp=it's");
  const callers = { ...cloud, functions: { submit: { url: 'http://submit' } }, tasks: { address: 'a:1' } } as typeof cloud; // prettier-ignore
  const text = invitation(callers, { completion: ['done'], reference, names });
  assert.match(
    text,
    /event_id: crypto.randomUUID\(\), id: "my-key", "order status": "done",\n {2}"it'\\''s": new Date/,
  );
  assert.match(text, /-d '\{"event_id": "begun", "id": "my-key", "order status": "begun", "it'\\''s": "/);
  assert.doesNotMatch(text.replaceAll(/npm run.*|\?unique_key=/g, ''), /unique_key|event_status|timestamp/);
});

test('a watch goes where probes may go, else it says how', () => {
  const callers = { ...cloud, functions: { poll: { url: 'http://poll/' } } } as typeof cloud;
  const text = invitation(callers, { completion: ["it's"], reference, hosts: '127.0.0.1:8080,x' });
  assert.match(text, /curl -s http:\/\/poll\/ -d '\{"watch_id".*"ready": "it'\\''s"\}.*"http:\/\/127\.0\.0\.1:8080\/"/);
  assert.match(invitation(callers, { completion: ['a'], reference }), /--set PROBE_HOSTS=HOST:PORT/);
});
