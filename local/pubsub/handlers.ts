import type * as grpc from '@grpc/grpc-js';
import { StatusError, type Faults } from '../shared/faults.ts';
import type { Meter } from '../shared/meter.ts';
import { serviceError, unary } from '../shared/rpc.ts';
import { applyMask, page } from '../shared/wire.ts';
import type { Broker } from './broker.ts';
import { checkMessages, checkSettings, checkTopic } from './limits.ts';
import { Pullers, type PullStream } from './streaming.ts';
import type { Subscription } from './subscription.ts';
import type { PublishRequest, PushConfig, Settings, StreamingPullRequest, Topic } from './wire.ts';

const INVALID_ARGUMENT = 3;
const FAILED_PRECONDITION = 9;
const UNIMPLEMENTED = 12;

/** What a request costs at least, in bytes. */
const MIN_BYTES = 1000;

interface Env {
  readonly broker: Broker;
  readonly faults: Faults;
  readonly meter: Meter;
  /** Encoded size of a request. */
  readonly sizeOf: (request: object) => number;
}

interface Paged {
  pageSize: number;
  pageToken: string;
}

/** The methods of google.pubsub.v1.Publisher. */
export function publisher({ broker, faults, meter, sizeOf }: Env): grpc.UntypedServiceImplementation {
  const call = <Request>(
    method: string,
    resource: (request: Request) => string,
    handle: (request: Request) => object,
  ): grpc.handleUnaryCall<Request, object> => unary(faults, 'pubsub', method, resource, handle);
  return {
    createTopic: call(
      'CreateTopic',
      ({ name }: Topic) => name,
      (topic) => {
        checkTopic(topic);
        return broker.createTopic({ ...topic, state: 'ACTIVE' });
      },
    ),
    getTopic: call(
      'GetTopic',
      ({ topic }: { topic: string }) => topic,
      ({ topic }) => broker.topic(topic),
    ),
    updateTopic: call(
      'UpdateTopic',
      ({ topic }: { topic: Topic }) => topic.name,
      ({ topic, updateMask }: { topic: Topic; updateMask: { paths: string[] } | null }) =>
        broker.putTopic(applyMask(broker.topic(topic.name), topic, paths(updateMask, ['name']))),
    ),
    deleteTopic: call(
      'DeleteTopic',
      ({ topic }: { topic: string }) => topic,
      ({ topic }) => {
        broker.deleteTopic(topic);
        return {};
      },
    ),
    listTopics: call(
      'ListTopics',
      ({ project }: { project: string }) => project,
      (request: Paged & { project: string }) => {
        const topics = [...broker.topics.values()].filter(({ name }) => name.startsWith(`${request.project}/`));
        const { items, nextPageToken } = page(topics, request.pageSize, request.pageToken);
        return { topics: items, nextPageToken };
      },
    ),
    listTopicSubscriptions: call(
      'ListTopicSubscriptions',
      ({ topic }: { topic: string }) => topic,
      ({ topic, pageSize, pageToken }: Paged & { topic: string }) => {
        broker.topic(topic);
        const all = [...broker.subscriptions.values()].filter(({ settings }) => settings.topic === topic);
        const { items, nextPageToken } = page(all, pageSize, pageToken);
        return { subscriptions: items.map(({ name }) => name), nextPageToken };
      },
    ),
    publish: call(
      'Publish',
      ({ topic }: PublishRequest) => topic,
      (request) => {
        broker.topic(request.topic);
        checkMessages(request.messages, sizeOf(request));
        const messageIds = broker.publish(request.topic, request.messages);
        meter.add('pubsub.publish_requests');
        meter.add('pubsub.publish_messages', messageIds.length);
        meter.add('pubsub.publish_bytes', Math.max(MIN_BYTES, sizeOf(request)));
        return { messageIds };
      },
    ),
    ...missing(['ListTopicSnapshots', 'DetachSubscription']),
  };
}

/** The methods of google.pubsub.v1.Subscriber. */
export function subscriber({ broker, faults }: Env): grpc.UntypedServiceImplementation {
  const call = <Request>(
    method: string,
    resource: (request: Request) => string,
    handle: (request: Request, signal: AbortSignal) => object | Promise<object>,
  ): grpc.handleUnaryCall<Request, object> => unary(faults, 'pubsub', method, resource, handle);
  const of = ({ subscription }: { subscription: string }) => subscription;
  return {
    createSubscription: call(
      'CreateSubscription',
      ({ name }: Settings) => name,
      (settings) => broker.createSubscription(checkSettings(settings)),
    ),
    getSubscription: call('GetSubscription', of, (request) => broker.subscription(of(request)).settings),
    updateSubscription: call(
      'UpdateSubscription',
      ({ subscription }: { subscription: Settings }) => subscription.name,
      ({ subscription, updateMask }: { subscription: Settings; updateMask: { paths: string[] } | null }) => {
        const known = broker.subscription(subscription.name);
        const changed = paths(updateMask, ['name', 'topic', 'filter', 'enable_message_ordering']);
        return broker.updateSubscription(known, checkSettings(applyMask(known.settings, subscription, changed)));
      },
    ),
    listSubscriptions: call(
      'ListSubscriptions',
      ({ project }: { project: string }) => project,
      ({ project, pageSize, pageToken }: Paged & { project: string }) => {
        const all = [...broker.subscriptions.values()].filter(({ name }) => name.startsWith(`${project}/`));
        const { items, nextPageToken } = page(all, pageSize, pageToken);
        return { subscriptions: items.map(({ settings }) => settings), nextPageToken };
      },
    ),
    deleteSubscription: call('DeleteSubscription', of, (request) => {
      broker.deleteSubscription(of(request));
      return {};
    }),
    modifyPushConfig: call(
      'ModifyPushConfig',
      of,
      (request: { subscription: string; pushConfig: PushConfig | null }) => {
        const known = broker.subscription(request.subscription);
        broker.updateSubscription(known, checkSettings({ ...known.settings, pushConfig: request.pushConfig }));
        return {};
      },
    ),
    acknowledge: call('Acknowledge', of, ({ subscription, ackIds }: { subscription: string; ackIds: string[] }) => {
      acknowledge(broker.subscription(subscription), ackIds);
      return {};
    }),
    modifyAckDeadline: call('ModifyAckDeadline', of, (request: ModifyAckDeadlineRequest) => {
      modify(broker, request.subscription, request.ackIds, request.ackDeadlineSeconds);
      return {};
    }),
    pull: pull(broker, faults),
    streamingPull: streamingPull(broker),
    ...missing(['GetSnapshot', 'ListSnapshots', 'CreateSnapshot', 'UpdateSnapshot', 'DeleteSnapshot', 'Seek']),
  };
}

interface ModifyAckDeadlineRequest {
  subscription: string;
  ackIds: string[];
  ackDeadlineSeconds: number;
}

interface PullRequest {
  subscription: string;
  maxMessages: number;
  returnImmediately: boolean;
}

/** Pull passes the fault hook by itself, since it can also repeat what it delivers. */
function pull(broker: Broker, faults: Faults): grpc.handleUnaryCall<PullRequest, object> {
  return (call, callback) => {
    const { subscription, maxMessages, returnImmediately } = call.request;
    const leave = new AbortController();
    call.on('cancelled', () => leave.abort());
    const run = async () => {
      const fault = faults.next('pubsub', 'Pull', subscription);
      if (fault?.kind === 'refuse') throw new StatusError(fault.code ?? 14, 'injected: Pull refused');
      if (fault?.kind === 'delay') await new Promise<void>((done) => void broker.time.setTimeout(done, fault.ms));
      if (maxMessages <= 0) throw new StatusError(INVALID_ARGUMENT, 'max_messages must be positive.');
      const pullers = pullersOf(broker.subscription(subscription));
      const receivedMessages = await pullers.pull(maxMessages, !returnImmediately, leave.signal);
      if (fault?.kind === 'lose_answer') throw new StatusError(fault.code ?? 14, 'injected: answer of Pull lost');
      if (fault?.kind === 'deliver_twice') return { receivedMessages: [...receivedMessages, ...receivedMessages] };
      return { receivedMessages };
    };
    run().then(
      (answer) => callback(null, answer),
      (error: unknown) => callback(serviceError(error)),
    );
  };
}

function streamingPull(broker: Broker): grpc.handleBidiStreamingCall<StreamingPullRequest, object> {
  return (call: PullStream) => {
    let name: string | undefined;
    call.on('data', (request: StreamingPullRequest) => {
      try {
        if (name === undefined) {
          name = request.subscription;
          pullersOf(broker.subscription(name)).open(call, request);
        } else if (request.ackIds.length + request.modifyDeadlineAckIds.length === 0) {
          pullersOf(broker.subscription(name)).keepAlive(call);
        }
        acknowledge(broker.subscription(name), request.ackIds);
        request.modifyDeadlineAckIds.forEach((id, i) => {
          modify(broker, name!, [id], request.modifyDeadlineSeconds[i] ?? 0);
        });
      } catch (error) {
        call.emit('error', serviceError(error));
      }
    });
    call.on('error', () => undefined);
  };
}

function pullersOf({ consumer, name }: Subscription): Pullers {
  if (consumer instanceof Pullers) return consumer;
  throw new StatusError(FAILED_PRECONDITION, `The subscription ${name} does not support pull: it pushes or exports.`);
}

function acknowledge(subscription: Subscription, ackIds: readonly string[]): void {
  for (const id of ackIds) {
    const lease = subscription.lease(id);
    if (lease) subscription.ack(lease);
  }
}

function modify(broker: Broker, name: string, ackIds: readonly string[], seconds: number): void {
  const subscription = broker.subscription(name);
  if (seconds < 0 || seconds > 600) throw new StatusError(INVALID_ARGUMENT, 'The deadline must be 0 to 600 seconds.');
  for (const id of ackIds) {
    const lease = subscription.lease(id);
    if (!lease) continue;
    if (seconds === 0) subscription.nack(lease);
    else subscription.extend(lease, broker.time.now() + seconds * 1000);
  }
}

/** The paths of a mask; throws when there is none or one of them cannot change. */
function paths(mask: { paths: string[] } | null, fixed: readonly string[]): string[] {
  if (!mask || mask.paths.length === 0) throw new StatusError(INVALID_ARGUMENT, 'The update_mask is required.');
  for (const path of mask.paths) {
    const snake = path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (fixed.includes(snake)) throw new StatusError(INVALID_ARGUMENT, `The field ${path} cannot be changed.`);
  }
  return mask.paths;
}

function missing(methods: readonly string[]): grpc.UntypedServiceImplementation {
  return Object.fromEntries(
    methods.map((method) => [
      method[0]!.toLowerCase() + method.slice(1),
      ((_call, callback) => {
        callback(serviceError(new StatusError(UNIMPLEMENTED, `${method} is not available on the local Pub/Sub.`)));
      }) satisfies grpc.handleUnaryCall<object, object>,
    ]),
  );
}
