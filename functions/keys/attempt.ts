import { AmbiguousError, TransientError } from '../core/errors.ts';

/**
 * Runs an idempotent transaction again, up to `attempts` times, where that can help at once: somebody interfered, or
 * the answer was lost. Other failures need time, which is Pub/Sub's to give.
 */
export async function attempt<T>(attempts: number, run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      const again = error instanceof AmbiguousError || (error instanceof TransientError && error.code === 'contention');
      if (!again || --attempts <= 0) throw error;
    }
  }
}
