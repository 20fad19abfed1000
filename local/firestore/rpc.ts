import * as grpc from '@grpc/grpc-js';
import { StatusError, type Faults } from '../shared/faults.ts';

/** What a call acts on, for the fault hook. */
type Resource<Request> = (request: Request) => string;

const failure = (error: unknown): grpc.ServiceError => {
  const known = error instanceof StatusError;
  const details = known
    ? error.details
    : `internal: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  return Object.assign(new Error(details), {
    code: known ? (error.code as grpc.status) : grpc.status.INTERNAL,
    details,
    metadata: new grpc.Metadata(),
  });
};

/** Makes gRPC handlers that pass the fault hook and answer errors with their status. */
export class Rpc {
  readonly #faults: Faults;
  constructor(faults: Faults) {
    this.#faults = faults;
  }

  unary<Request, Answer>(
    method: string,
    resource: Resource<Request>,
    handle: (request: Request) => Answer,
  ): grpc.handleUnaryCall<Request, Answer> {
    return ({ request }, callback) => {
      this.#around(method, resource, request, handle).then(
        (answer) => callback(null, answer),
        (error: unknown) => callback(failure(error)),
      );
    };
  }

  /** A call answered by several messages, all known at once. */
  stream<Request>(
    method: string,
    resource: Resource<Request>,
    handle: (request: Request) => readonly object[],
  ): grpc.handleServerStreamingCall<Request, object> {
    return (call) => {
      this.#around(method, resource, call.request, handle).then(
        (answers) => {
          for (const answer of answers) call.write(answer);
          call.end();
        },
        (error: unknown) => call.emit('error', failure(error)),
      );
    };
  }

  /** A stream in both directions; the fault hook sees every request of it. */
  duplex<Request>(
    method: string,
    open: (send: (message: object) => void) => { receive: (request: Request) => void; close: () => void },
  ): grpc.handleBidiStreamingCall<Request, object> {
    return (call) => {
      const session = open((message) => call.write(message));
      let queue = Promise.resolve();
      call.on('data', (request: Request) => {
        queue = queue
          .then(() => this.#faults.around('firestore', method, '', () => session.receive(request)))
          .catch((error: unknown) => {
            session.close();
            call.emit('error', failure(error));
          });
      });
      call.on('end', () => {
        session.close();
        call.end();
      });
      call.on('cancelled', () => session.close());
    };
  }

  async #around<Request, Answer>(
    method: string,
    resource: Resource<Request>,
    request: Request,
    handle: (request: Request) => Answer,
  ): Promise<Answer> {
    return this.#faults.around('firestore', method, resource(request), () => handle(request));
  }
}
