import type { Config } from '../config.ts';

/**
 * Options of a gRPC client. A connection can die without a word, above all while an instance has no CPU: each call over
 * it would then run into its deadline, until the kernel gives it up after a quarter of an hour. A ping, at most one in
 * three deadlines (30 s), finds that out in half a deadline, so that a repeat over another connection still fits.
 */
export function channelOptions({ portDeadline }: Pick<Config, 'portDeadline'>) {
  const deadlineMs = portDeadline / 1000;
  return { 'grpc.keepalive_time_ms': 3 * deadlineMs, 'grpc.keepalive_timeout_ms': deadlineMs / 2 };
}
