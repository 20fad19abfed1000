import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { loadConfig } from '../../functions/config.ts';
import { TransientError } from '../../functions/core/errors.ts';
import type { EventRow } from '../../functions/core/event.ts';
import type { HttpAnswer, HttpRequest } from '../../functions/http/handler.ts';
import { create } from '../../functions/submit.ts';
import type { Time } from '../../local/shared/time.ts';
import { FakeBus } from '../fakes/bus.ts';
import { OPEN } from '../fakes/gate.ts';
import { FakeStore } from '../fakes/store.ts';
import { FakeTable } from '../fakes/tables.ts';

/** An attempt of a task and what it was told. */
export interface Attempt {
  readonly queue: string;
  readonly task: string;
  /** From its schedule time until it arrived, simulated milliseconds. */
  readonly delay: number;
  readonly first: boolean;
  readonly answer: HttpAnswer;
}

/** `submit` behind an HTTP address, over fakes in simulated time. `fails` says which calls of the store and the table do. */
export async function startTarget(time: Time, fails: () => boolean) {
  const store = new FakeStore();
  const bus = new FakeBus();
  const table = new FakeTable<EventRow>(() => time.now() * 1000);
  const gate = {
    ...OPEN,
    async before({ port, method }: { port: string; method: string }) {
      if ((port === 'events' || method === 'commit') && fails()) throw new TransientError('unavailable', 'down');
    },
  };
  const clock = {
    now: () => time.now() * 1000,
    sleep: (ms: number) => new Promise<void>((resolve) => void time.setTimeout(resolve, ms)),
  };
  const ports = { clock, bus: bus.port(gate), store: store.port(gate), events: table.port('events', gate) };
  const log = () => undefined;
  const handler = create({ config: loadConfig({ PROJECT_ID: 'local-project' }), ports, log });
  const attempts: Attempt[] = [];

  async function take(request: http.IncomingMessage): Promise<HttpAnswer> {
    const arrived = time.now();
    const headers = request.headers as HttpRequest['headers'];
    const rawBody = await buffer(request);
    const answer = await handler({ method: request.method!, path: '/', headers, body: null, rawBody }, log);
    attempts.push({
      queue: headers['x-cloudtasks-queuename']!,
      task: headers['x-cloudtasks-taskname']!,
      delay: arrived - Number(headers['x-cloudtasks-tasketa']) * 1000,
      first: headers['x-cloudtasks-taskretrycount'] === '0',
      answer,
    });
    return answer;
  }
  const server = http.createServer((request, response) => {
    take(request).then(
      ({ status, body }) => {
        response.statusCode = status;
        response.end(JSON.stringify(body));
      },
      (error: unknown) => response.destroy(error as Error),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    store,
    bus,
    table,
    attempts,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
