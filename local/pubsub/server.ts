import * as grpc from '@grpc/grpc-js';
import { Faults } from '../shared/faults.ts';
import { listen, loadProtos, stop } from '../shared/grpc.ts';
import { HttpSender } from '../shared/http-out.ts';
import { Meter } from '../shared/meter.ts';
import { sized } from '../shared/rpc.ts';
import type { LocalServer, ServerOptions } from '../shared/server.ts';
import { realTime, type Time } from '../shared/time.ts';
import { BigQueryWriter, type RowWriter } from './bigquery.ts';
import { Broker, deliveryOf, type AcceptedListener } from './broker.ts';
import { publisher, subscriber } from './handlers.ts';
import { Pusher } from './push.ts';
import { Pullers } from './streaming.ts';
import type { Subscription } from './subscription.ts';
import { PUSH_LIMITS, type PushLimits } from './window.ts';

export type { RowWriter } from './bigquery.ts';
export type { AcceptedListener } from './broker.ts';

export interface PubSubOptions extends ServerOptions {
  readonly time?: Time;
  /** Writes the rows of BigQuery subscriptions; can be set later too, their messages wait until then. */
  readonly bigQueryWriter?: RowWriter;
  readonly push?: Partial<PushLimits>;
  /** Bytes of undelivered messages from which on publishing answers RESOURCE_EXHAUSTED; 1 GiB by default. */
  readonly maxBacklogBytes?: number;
  readonly onAccepted?: AcceptedListener;
}

export interface PubSubServer extends LocalServer {
  /** For the environment variable PUBSUB_EMULATOR_HOST. */
  readonly address: string;
  readonly meter: Meter;
  setBigQueryWriter(writer: RowWriter): void;
  /** True when no push and no BigQuery subscription has an undelivered message. */
  idle(): boolean;
  /** Resolves when `idle()` is true. */
  waitIdle(): Promise<void>;
  /** Messages of a subscription (`projects/P/subscriptions/S`) that are not acknowledged yet. */
  backlog(subscription: string): number;
}

/** Larger than any request that Pub/Sub accepts, so that the limits are answered by their own errors. */
const MAX_MESSAGE = 64 * 1024 * 1024;
const GIB = 1024 ** 3;

/** Starts a Pub/Sub server (google.pubsub.v1 over plaintext gRPC). */
export async function startPubSub(options: PubSubOptions = {}): Promise<PubSubServer> {
  const { time = realTime, faults = new Faults(), meter = new Meter() } = options;
  const sender = new HttpSender(time);
  const limits = { ...PUSH_LIMITS, ...options.push };
  let writer = options.bigQueryWriter;
  const consumers = {
    push: (subscription: Subscription) => new Pusher(subscription, { time, sender, faults, meter, limits }),
    bigquery: (subscription: Subscription) =>
      new BigQueryWriter(subscription, { time, faults, meter, writer: () => writer }),
    pull: (subscription: Subscription) => new Pullers(subscription, { time, faults, meter }),
  };
  const maxBacklogBytes = options.maxBacklogBytes ?? GIB;
  const { stateDir, onAccepted = () => undefined } = options;
  const broker = new Broker({ time, meter, stateDir, maxBacklogBytes, consumers, onAccepted });

  const server = new grpc.Server({
    'grpc.max_receive_message_length': MAX_MESSAGE,
    'grpc.max_send_message_length': -1,
  });
  const services = protocol();
  const publish = sized(services.Publisher.service);
  const env = { broker, faults, meter, sizeOf: publish.sizeOf };
  server.addService(publish.service, publisher(env));
  server.addService(services.Subscriber.service, subscriber(env));
  const port = await listen(server, options.port);

  const idle = () =>
    broker.subscriptions.values().every(({ settings, backlog }) => backlog === 0 || deliveryOf(settings) === 'pull');
  let waiting: (() => void)[] = [];
  broker.onRemoved = () => {
    if (waiting.length === 0 || !idle()) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    address: `127.0.0.1:${port}`,
    meter,
    setBigQueryWriter(given) {
      writer = given;
      for (const { consumer } of broker.subscriptions.values()) consumer?.pump();
    },
    idle,
    async waitIdle() {
      if (!idle()) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    backlog: (name) => broker.subscription(name).backlog,
    async stop() {
      stop(server);
      broker.close();
      sender.close();
    },
  };
}

interface Protocol {
  Publisher: { service: grpc.ServiceDefinition };
  Subscriber: { service: grpc.ServiceDefinition };
}

function protocol(): Protocol {
  const root = loadProtos('@google-cloud/pubsub', 'build/protos/protos.json') as unknown as {
    google: { pubsub: { v1: Protocol } };
  };
  return root.google.pubsub.v1;
}
