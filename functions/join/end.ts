import type { Micros } from '../core/event.ts';
import { End, longestCall } from '../end.ts';
import type { Ports } from '../ports.ts';

/** What a tick may take: the function's timeout of 9 min less what the start of an instance and an answer may. */
const TICK: Micros = 535e6;
/** How much longer than another call a wait for a job may take. */
const WAIT: Micros = 20e6;

/**
 * The ports of a tick that begins now: no call begins that could outlast the function, whatever is left is the next
 * tick's. Progress may be saved, and the lease be given back, a little longer than anything else may begin.
 */
export function untilTimeout<Some extends Pick<Ports, 'clock' | 'store' | 'bus' | 'warehouse'>>(
  ports: Some,
  settings: { readonly portDeadline: Micros },
): Some {
  const { clock, store, bus, warehouse } = ports;
  const end = new End(clock.now() + TICK, clock, longestCall(settings));
  return { ...ports, ...end.guard({ store }), ...end.within(TICK - WAIT).guard({ bus, warehouse }) };
}
