import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { loadConfig } from '../../functions/config.ts';
import { decode } from '../../functions/core/decode/decode.ts';
import { HELP } from '../../scripts/redrive/options.ts';
import { asFiles, snippets } from './snippets.ts';

const NAMES = loadConfig({ PROJECT_ID: 'local-project' }).eventFields;
const ANY_TIME = { from: -Infinity, to: Infinity };
const read = (text: string) => decode({ data: Buffer.from(text), attributes: {}, messageId: '' }, NAMES, ANY_TIME);

/** Runs the Python of the page with stand-ins for Django and the client libraries; prints what they were given. */
const PYTHON = `
import importlib, json, sys
from datetime import datetime, timezone
from unittest.mock import MagicMock
for name in ["django", "django.conf", "django.db", "google", "google.api_core", "google.api_core.exceptions", "google.cloud"]:
    sys.modules[name] = MagicMock()
class AlreadyExists(Exception): pass
sys.modules["google.api_core.exceptions"].AlreadyExists = AlreadyExists
sys.path.insert(0, sys.argv[1])
import events, tasks
event = events.new_event("order-1", "completed", {"total": 12.5})
publish = sys.modules["google.cloud"].pubsub_v1.PublisherClient.return_value.publish
events.publish(event)
events.publish(event)
assert publish.return_value.result.call_count == 2
committed = []
sys.modules["django.db"].transaction.on_commit = committed.append
order = MagicMock(pk=7, total="3.50")
events.complete_order(order)
assert publish.call_count == 2 and order.save.called
committed[0]()
create = sys.modules["google.cloud"].tasks_v2.CloudTasksClient.return_value.create_task
create.side_effect = [None, AlreadyExists()]
at = datetime(2026, 11, 29, tzinfo=timezone.utc)
tasks.submit_later(event, at=at)
tasks.submit_later(event, at=at)
made = [call.kwargs["task"] for call in create.call_args_list]
assert made[0]["name"] == made[1]["name"] and made[0]["schedule_time"] == at
print(json.dumps({"published": [call.args[1].decode() for call in publish.call_args_list], "task": made[0]["http_request"]["body"].decode()}))
`;

const noPython = spawnSync('python3', ['--version']).status !== 0 && 'python3 is not installed';

describe('docs/producers.md', () => {
  test('the Python compiles', { skip: noPython }, (t) => {
    const files = asFiles('python');
    t.after(() => files.remove());
    const names = [...snippets('python').keys()];
    assert.deepEqual(names, ['events.py', 'outbox.py', 'tasks.py']);
    const { status, stderr } = spawnSync('python3', ['-m', 'py_compile', ...names], { cwd: files.folder });
    assert.equal(status, 0, String(stderr));
  });

  test('the Python sends events, the same at every attempt, after the commit', { skip: noPython }, (t) => {
    const files = asFiles('python');
    t.after(() => files.remove());
    const { status, stdout, stderr } = spawnSync('python3', ['-c', PYTHON, files.folder]);
    assert.equal(status, 0, String(stderr));
    const { published, task } = JSON.parse(String(stdout)) as { published: string[]; task: string };
    assert.equal(published[0], published[1]);
    assert.equal(task, published[0]);
    assert.deepEqual([read(task).uniqueKey, read(task).payload], ['order-1', '{"total": 12.5}']);
    assert.deepEqual([read(published[2]!).uniqueKey, read(published[2]!).payload], ['order-7', '{"total": 3.5}']);
  });

  test('the shell commands send events', () => {
    const bodies = [...snippets('sh').values()].flatMap((text) =>
      [...text.matchAll(/--(?:message|body-content|data)[= ]'([^']+)'/g)].map(([, body]) =>
        body!.replace(/^\[|\]$/g, ''),
      ),
    );
    assert.deepEqual(
      bodies.map((body) => read(body).eventId),
      ['order-1/started', 'order-1/finished', 'order-1/paid'],
    );
  });
});

test('docs/redrive.md has every option of the command and no other', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/redrive.md'), 'utf8');
  const options = (text: string) => [...new Set([...text.matchAll(/--[a-z]+(-[a-z]+)*/g)].map(([option]) => option))];
  assert.deepEqual(options(page).sort(), options(HELP).sort());
});
