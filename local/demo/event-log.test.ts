import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { EventLog } from './event-log.ts';

const EVENTS = 'projects/codaflow-local/topics/events';
const message = (id: string) => ({
  ...{ id, data: Buffer.from([0xff, 1]), attributes: { a: 'b' }, orderingKey: '', publishTime: 5, size: 0, holders: 0 },
});

test('what the topic took and what was received outlives the process, each once', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'codaflow-log-'));
  try {
    const first = new EventLog(folder);
    first.listener(EVENTS, [message('1'), message('2')]);
    first.listener('projects/codaflow-local/topics/results', [message('3')]);
    first.receive({ messageId: '9', attributes: {}, message: { n: 1 } });
    // No close: a process may just be gone.
    const second = new EventLog(folder);
    second.listener(EVENTS, [message('2'), message('4')]);
    assert.deepEqual(
      second.published.map(({ messageId }) => messageId),
      ['1', '2', '4'],
    );
    assert.deepEqual(second.published[0], { messageId: '1', data: Buffer.from([0xff, 1]), attributes: { a: 'b' }, time: 5000 }); // prettier-ignore
    assert.deepEqual(second.received, [{ messageId: '9', attributes: {}, message: { n: 1 } }]);
    first.close();
    second.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
