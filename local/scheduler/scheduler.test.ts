import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { FakeTime } from '../shared/fake-time.ts';
import { Faults, type Fault } from '../shared/faults.ts';
import { Meter } from '../shared/meter.ts';
import { startScheduler, type Job, type SchedulerServer } from './server.ts';

interface Seen {
  readonly method: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** Answers the request. */
  readonly answer: (status?: number, body?: string) => void;
}

/** An endpoint whose answers the test gives, one by one. */
class Endpoint {
  readonly server = http.createServer();
  readonly #waiting: ((seen: Seen) => void)[] = [];
  readonly #seen: Seen[] = [];
  count = 0;

  async start(): Promise<void> {
    this.server.on('request', (request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        this.count++;
        const answer = (status = 200, text = '') => response.writeHead(status).end(text);
        const seen = { method: request.method!, headers: request.headers, body, answer };
        const waiter = this.#waiting.shift();
        if (waiter) waiter(seen);
        else this.#seen.push(seen);
      });
    });
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/tick`;
  }

  next(): Promise<Seen> {
    const seen = this.#seen.shift();
    return seen ? Promise.resolve(seen) : new Promise((resolve) => this.#waiting.push(resolve));
  }
}

const START = Date.UTC(2026, 0, 1, 0, 0, 30);
const MINUTE = 60_000;

async function withScheduler(
  body: (parts: {
    time: FakeTime;
    endpoint: Endpoint;
    scheduler: SchedulerServer;
    meter: Meter;
    job: Job;
  }) => Promise<void>,
  fault: (n: number) => Fault | undefined = () => undefined,
): Promise<void> {
  const time = new FakeTime(START);
  const endpoint = new Endpoint();
  await endpoint.start();
  const faults = new Faults(({ n, service, method, resource }) => {
    assert.deepEqual([service, method, resource], ['scheduler', 'run', 'join']);
    return fault(n);
  });
  const meter = new Meter();
  const scheduler = await startScheduler({ time, faults, meter });
  const job = {
    name: 'projects/p/locations/l/jobs/join',
    schedule: '*/2 * * * *',
    httpTarget: { uri: endpoint.url, headers: { 'Content-Type': 'application/json' }, body: '{"join":"enrich"}' },
  };
  try {
    await body({ time, endpoint, scheduler, meter, job });
  } finally {
    await scheduler.stop();
    endpoint.server.closeAllConnections();
    endpoint.server.close();
    // No timer is left, those of the requests included.
    await settle(() => time.pending === 0);
  }
}

/** Lets what was answered arrive and be worked on. */
const settle = async (done: () => boolean): Promise<void> => {
  for (const end = Date.now() + 2000; !done();) {
    assert.ok(Date.now() < end, 'it does not settle');
    await new Promise((resolve) => setImmediate(resolve));
  }
};

test('a job calls its target at the moments of its schedule, with the headers of Cloud Scheduler', async () => {
  await withScheduler(async ({ time, endpoint, scheduler, job }) => {
    const oidcToken = { serviceAccountEmail: 'scheduler@p.iam.gserviceaccount.com' };
    scheduler.createJob({ ...job, httpTarget: { ...job.httpTarget, oidcToken } });
    time.advance(89_999);
    assert.equal(time.pending, 1);
    time.advance(1);
    const { method, headers, body, answer } = await endpoint.next();
    answer();
    assert.equal(method, 'POST');
    assert.equal(body, '{"join":"enrich"}');
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['user-agent'], 'Google-Cloud-Scheduler');
    assert.equal(headers['x-cloudscheduler'], 'true');
    assert.equal(headers['x-cloudscheduler-jobname'], 'join');
    assert.equal(headers['x-cloudscheduler-scheduletime'], '2026-01-01T00:02:00.000Z');
    const claims = JSON.parse(Buffer.from(headers.authorization!.split('.')[1]!, 'base64url').toString()) as object;
    assert.deepEqual(
      { ...claims, iat: 0, exp: 0 },
      {
        ...{ aud: endpoint.url, azp: oidcToken.serviceAccountEmail, sub: oidcToken.serviceAccountEmail },
        ...{ email: oidcToken.serviceAccountEmail, email_verified: true, iss: 'https://accounts.google.com' },
        ...{ iat: 0, exp: 0 },
      },
    );
  });
});

test('the time zone of a job counts', async () => {
  await withScheduler(async ({ scheduler, job }) => {
    scheduler.createJob({ ...job, schedule: '30 9 * * MON-FRI', timeZone: 'America/New_York' });
    assert.deepEqual(scheduler.jobs(), [{ name: job.name, next: Date.UTC(2026, 0, 1, 14, 30) }]);
  });
});

test('an execution waits for the one before it; ticks that pile up become one', async () => {
  await withScheduler(async ({ time, endpoint, scheduler, job }) => {
    scheduler.createJob({ ...job, schedule: '* * * * *', attemptDeadlineMs: 30 * MINUTE });
    time.advance(MINUTE / 2);
    const first = await endpoint.next();
    time.advance(3 * MINUTE);
    assert.equal(endpoint.count, 1);
    first.answer();
    const second = await endpoint.next();
    assert.equal(second.headers['x-cloudscheduler-scheduletime'], '2026-01-01T00:04:00.000Z');
    second.answer();
    await settle(() => time.pending === 1);
    assert.equal(endpoint.count, 2);
  });
});

test('a failed attempt is repeated as often as the job says, after a pause that doubles', async () => {
  await withScheduler(async ({ time, endpoint, scheduler, meter, job }) => {
    scheduler.createJob({ ...job, schedule: '0 * * * *', retry: { retryCount: 2, minBackoffMs: 5000 } });
    time.advance(60 * MINUTE - 30_000);
    for (const [n, pause] of [5000, 10_000].entries()) {
      (await endpoint.next()).answer(500);
      await settle(() => meter.get('scheduler.failures') === n + 1);
      time.advance(pause - 1);
      assert.equal(meter.get('scheduler.attempts'), n + 1);
      time.advance(1);
    }
    (await endpoint.next()).answer(500);
    // Only the next tick is left.
    await settle(() => meter.get('scheduler.failures') === 3 && time.pending === 1);
    assert.equal(endpoint.count, 3);
  });
});

test('the next tick ends the retries', async () => {
  await withScheduler(async ({ time, endpoint, scheduler, meter, job }) => {
    scheduler.createJob({ ...job, retry: { retryCount: 5, minBackoffMs: 10 * MINUTE } });
    time.advance(90_000);
    (await endpoint.next()).answer(500);
    await settle(() => meter.get('scheduler.failures') === 1);
    time.advance(2 * MINUTE);
    const { headers, answer } = await endpoint.next();
    assert.equal(headers['x-cloudscheduler-scheduletime'], '2026-01-01T00:04:00.000Z');
    answer();
  });
});

test('without retries a failure waits for the next tick', async () => {
  await withScheduler(async ({ time, endpoint, scheduler, job }) => {
    scheduler.createJob(job);
    time.advance(90_000);
    (await endpoint.next()).answer(503);
    await settle(() => time.pending === 1);
    time.advance(2 * MINUTE);
    const { headers, answer } = await endpoint.next();
    assert.equal(headers['x-cloudscheduler-scheduletime'], '2026-01-01T00:04:00.000Z');
    answer();
  });
});

test('an attempt without an answer ends at its deadline', async () => {
  await withScheduler(async ({ time, endpoint, scheduler, job }) => {
    scheduler.createJob({ ...job, paused: true, attemptDeadlineMs: 15_000 });
    const outcome = scheduler.runNow(job.name);
    await endpoint.next();
    time.advance(15_000);
    assert.deepEqual(await outcome, { status: 0, body: '', error: 'deadline exceeded' });
  });
});

test('run now gives back status and body, even beside an execution', async () => {
  await withScheduler(async ({ time, endpoint, scheduler, job }) => {
    scheduler.createJob(job);
    time.advance(90_000);
    const running = await endpoint.next();
    const outcome = scheduler.runNow(job.name);
    (await endpoint.next()).answer(207, 'partly');
    assert.deepEqual(await outcome, { status: 207, body: 'partly' });
    running.answer();
  });
});

test('an interval replaces the schedule until it is taken away', async () => {
  await withScheduler(async ({ time, endpoint, scheduler, job }) => {
    scheduler.createJob({ ...job, everyMs: 250 });
    time.advance(250);
    (await endpoint.next()).answer();
    await settle(() => time.pending === 1);
    time.advance(250);
    (await endpoint.next()).answer();
    scheduler.setEvery(job.name, undefined);
    assert.equal(scheduler.jobs()[0]!.next, Date.UTC(2026, 0, 1, 0, 2));
    scheduler.pauseJob(job.name);
    assert.equal(scheduler.jobs()[0]!.next, Infinity);
    scheduler.resumeJob(job.name);
    scheduler.deleteJob(job.name);
    assert.deepEqual(scheduler.jobs(), []);
    await assert.rejects(scheduler.runNow(job.name), { code: 5 });
  });
});

test('faults: refused, answer lost, delivered twice', async () => {
  const kinds = ['refuse', 'lose_answer', 'deliver_twice'] as const;
  await withScheduler(
    async ({ endpoint, scheduler, job }) => {
      scheduler.createJob(job);
      assert.deepEqual(await scheduler.runNow(job.name), { status: 0, body: '', error: 'injected: run refused' });
      assert.equal(endpoint.count, 0);
      const lost = scheduler.runNow(job.name);
      (await endpoint.next()).answer();
      assert.equal((await lost).status, 0);
      const twice = scheduler.runNow(job.name);
      (await endpoint.next()).answer();
      (await endpoint.next()).answer();
      assert.equal((await twice).status, 200);
      assert.equal(endpoint.count, 3);
    },
    (n) => ({ kind: kinds[n]! }),
  );
});

test('jobs that Cloud Scheduler would refuse', async () => {
  await withScheduler(async ({ scheduler, job }) => {
    const refused: Partial<Job>[] = [
      { schedule: 'every 5 minutes' },
      { schedule: '* * * * * *' },
      { schedule: '0 0 L * *' },
      { schedule: '61 * * * *' },
      { timeZone: 'Mars/Olympus' },
      { retry: { retryCount: 6 } },
      { attemptDeadlineMs: 1000 },
      { name: 'projects/p/jobs/x' },
      { httpTarget: { uri: 'ftp://host/' } },
    ];
    for (const part of refused) assert.throws(() => scheduler.createJob({ ...job, ...part }), { code: 3 });
    scheduler.createJob(job);
    assert.throws(() => scheduler.createJob(job), { code: 6 });
    scheduler.putJob({ ...job, schedule: '0 0 29 2 *' });
    assert.equal(scheduler.jobs()[0]!.next, Date.UTC(2028, 1, 29));
  });
});
