import { AmbiguousError, CodaflowError, PermanentError, TransientError, type PermanentCode } from '../core/errors.ts';

/** gRPC status codes. */
const INVALID_ARGUMENT = 3;
const CERTAIN: ReadonlySet<number> = new Set([
  5, // NOT_FOUND: nothing was there to act on; it is being deployed, or soon will be.
  7, // PERMISSION_DENIED
  8, // RESOURCE_EXHAUSTED
  9, // FAILED_PRECONDITION
  12, // UNIMPLEMENTED
  16, // UNAUTHENTICATED
]);

/**
 * The failure of a call as one of the three kinds: refused as invalid, surely without effect, or in doubt. UNAVAILABLE is
 * in doubt too: it is also what a broken connection gives after the effect.
 */
export function fromStatus(error: unknown, what: string, invalid: PermanentCode): CodaflowError {
  if (error instanceof CodaflowError) return error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  const message = `${what}: ${error instanceof Error ? error.message : String(error)}`;
  if (code === INVALID_ARGUMENT) return new PermanentError(invalid, message, error);
  if (typeof code === 'number' && CERTAIN.has(code)) return new TransientError('unavailable', message, error);
  return new AmbiguousError(message, error);
}

/** Rejects with AmbiguousError when the call takes longer than its deadline; `abandon` then lets go of it. */
export async function withDeadline<T>(
  call: Promise<T>,
  ms: number,
  what: string,
  abandon: () => void = () => undefined,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new AmbiguousError(`${what}: no answer within ${ms} ms`));
    abandon();
  }, ms);
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}
