import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';

/**
 * The functions framework parses bodies by their content type before it calls a function, and answers 400 by itself when
 * one is not what its type says. Cloud Tasks would repeat such a task until it is dropped, unseen. So the headers that
 * the parsers go by are hidden from them.
 */

type Hidden = Readonly<Partial<Record<'content-type' | 'content-encoding', string>>>;

const hidden = new WeakMap<IncomingMessage, Hidden>();

/** From now on every body of this process reaches its handler as the bytes that were sent. */
export function keepBodiesRaw(): void {
  subscribe('http.server.request.start', (message) => {
    const { request } = message as { request: IncomingMessage };
    const { headers } = request;
    const { 'content-type': type, 'content-encoding': encoding } = headers;
    hidden.set(request, {
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    });
    headers['content-type'] = 'application/octet-stream';
    delete headers['content-encoding'];
  });
}

/** The headers as they were sent, where they were hidden. */
export function hiddenHeaders(request: IncomingMessage): Readonly<Record<string, string | undefined>> {
  const original = hidden.get(request);
  return original === undefined ? {} : { 'content-type': undefined, ...original };
}
