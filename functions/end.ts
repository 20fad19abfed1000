import { TransientError } from './core/errors.ts';
import type { Micros } from './core/event.ts';
import type { Clock, Ports } from './ports.ts';

/** How long a call may outlast its deadline, until its adapter lets go of it. */
const SLACK: Micros = 1e6;

/** The most that one call of a port takes. */
export function longestCall({ portDeadline }: { readonly portDeadline: Micros }): Micros {
  return portDeadline + SLACK;
}

/**
 * The moment by which a request, or a group of them, is over. Every call of a port has a deadline, so whatever begins
 * only while a whole call fits is over in time. No call is cut short: that would leave its effect in doubt.
 */
export class End {
  readonly at: Micros;
  readonly #clock: Clock;
  readonly #call: Micros;

  /** @param call the most that one call takes, in microseconds */
  constructor(at: Micros, clock: Clock, call: Micros) {
    this.at = at;
    this.#clock = clock;
    this.#call = call;
  }

  /** The end of a request that begins now. */
  static ofRequest(clock: Clock, settings: { readonly requestBudget: Micros; readonly portDeadline: Micros }): End {
    return new End(clock.now() + settings.requestBudget, clock, longestCall(settings));
  }

  /** The last moment at which so many calls, one after the other, may begin. */
  latest(calls = 1): Micros {
    return this.at - calls * this.#call;
  }

  /** Whether so many calls, one after the other, may begin now. */
  fits(calls = 1): boolean {
    return this.#clock.now() <= this.latest(calls);
  }

  /** An end that leaves time for so many calls after it. */
  before(calls: number): End {
    return new End(this.latest(calls), this.#clock, this.#call);
  }

  /** The end of what may take so many microseconds from now, and not longer than this end. */
  within(budget: Micros): End {
    return new End(Math.min(this.at, this.#clock.now() + budget), this.#clock, this.#call);
  }

  /**
   * The same ports, of which no call begins that could outlast the end: it rejects with TransientError
   * `deadline_exceeded`.
   */
  guard<Some extends Partial<Ports>>(ports: Some): Some {
    const guarded = Object.entries(ports).map(([name, port]) => [name, LOCAL.has(name) ? port : this.#guarded(port)]);
    return Object.fromEntries(guarded) as Some;
  }

  #guarded<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name): unknown => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]): Promise<unknown> => {
          if (!this.fits()) throw tooLate();
          return Reflect.apply(member, target, args) as unknown;
        };
      },
    });
  }
}

/** Ports that ask nobody. */
const LOCAL: ReadonlySet<string> = new Set(['clock', 'ids'] satisfies (keyof Ports)[]);

export function tooLate(): TransientError {
  return new TransientError('deadline_exceeded', 'too little time is left to begin this');
}
