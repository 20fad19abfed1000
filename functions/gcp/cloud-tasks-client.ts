import { CloudTasksClient } from '@google-cloud/tasks';
import type { Config } from '../config.ts';
import { channelOptions } from './channel.ts';
import { localEndpoint } from './local-endpoint.ts';

export function connect(config: Config): CloudTasksClient {
  const options = { projectId: config.projectId, ...channelOptions(config) };
  const host = config.tasksHost;
  return new CloudTasksClient(host === null ? options : { ...options, ...localEndpoint(host) });
}
