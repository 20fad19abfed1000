import { v1 } from '@google-cloud/pubsub';
import type { Config } from '../config.ts';
import { channelOptions } from './channel.ts';
import { localEndpoint } from './local-endpoint.ts';
import { withOwnEncoder } from './publish-request.ts';

export function connect(config: Config): Promise<v1.PublisherClient> {
  const options = { projectId: config.projectId, ...channelOptions(config) };
  const host = config.pubsubHost;
  return withOwnEncoder(new v1.PublisherClient(host === null ? options : { ...options, ...localEndpoint(host) }));
}
