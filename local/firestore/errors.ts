import { status } from '@grpc/grpc-js';
import { StatusError } from '../shared/faults.ts';

export const invalid = (message: string): StatusError => new StatusError(status.INVALID_ARGUMENT, message);
export const notFound = (message: string): StatusError => new StatusError(status.NOT_FOUND, message);
export const alreadyExists = (message: string): StatusError => new StatusError(status.ALREADY_EXISTS, message);
export const failedPrecondition = (message: string): StatusError =>
  new StatusError(status.FAILED_PRECONDITION, message);
export const unimplemented = (what: string): StatusError =>
  new StatusError(status.UNIMPLEMENTED, `${what} is not implemented by the local Firestore server`);

/** The code on which clients run a transaction again. */
export const aborted = (): StatusError =>
  new StatusError(status.ABORTED, 'Too much contention on these documents. Please try again.');

/** Clients recognise "transaction has expired" and run the transaction again. */
export const transactionExpired = (): StatusError =>
  invalid('The referenced transaction has expired or is no longer valid.');
