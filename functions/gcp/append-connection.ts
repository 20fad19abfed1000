import type { protos } from '@google-cloud/bigquery-storage';

export type AppendRequest = protos.google.cloud.bigquery.storage.v1.IAppendRowsRequest;
export type AppendResponse = protos.google.cloud.bigquery.storage.v1.IAppendRowsResponse;

/** The bidirectional stream of the method AppendRows, as far as it is used here. */
export interface AppendStream {
  on(event: 'data', listener: (response: AppendResponse) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  write(request: AppendRequest): unknown;
  end(): unknown;
  cancel(): unknown;
}

interface Waiting {
  readonly resolve: (response: AppendResponse) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One connection. Requests are answered in their order, so a connection on which an answer is missing is of no more use:
 * the next answer would be taken for the missing one. Whatever ends it rejects all that wait; nothing is left to throw
 * later, an idle connection that the server closes included.
 */
export class AppendConnection {
  readonly #stream: AppendStream;
  readonly #waiting: Waiting[] = [];
  #ended: Error | null = null;
  #first = true;

  constructor(stream: AppendStream) {
    this.#stream = stream;
    stream.on('data', (response) => this.#waiting.shift()?.resolve(response));
    stream.on('error', (error) => this.#end(error));
    stream.on('end', () => this.#end(new Error('the server closed the connection')));
    stream.on('close', () => this.#end(new Error('the connection was closed')));
  }

  get usable(): boolean {
    return this.#ended === null;
  }

  /** Sends `rest`, and `opening` with the first request. Rejects with the error that ended the connection. */
  append(opening: AppendRequest, rest: AppendRequest): Promise<AppendResponse> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    const { promise, resolve, reject } = Promise.withResolvers<AppendResponse>();
    this.#waiting.push({ resolve, reject });
    this.#stream.write(this.#first ? merge(opening, rest) : rest);
    this.#first = false;
    return promise;
  }

  /** Gives the connection up. */
  abandon(): void {
    this.#end(new Error('the connection was given up'));
    this.#stream.cancel();
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

function merge(opening: AppendRequest, rest: AppendRequest): AppendRequest {
  return { ...opening, ...rest, protoRows: { ...opening.protoRows, ...rest.protoRows } };
}
