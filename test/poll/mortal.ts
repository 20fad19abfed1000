import type { Ports } from '../../functions/ports.ts';

/** A promise of whoever died: it never settles. */
const never = (): Promise<never> => new Promise(() => undefined);

/**
 * The ports of an instance that may die before or after any call, as `dies` says: what it was doing is abandoned for
 * ever, and `died` hears of it once.
 */
export function mortal<Some extends Partial<Ports>>(ports: Some, dies: () => boolean, died: () => void): Some {
  let dead = false;
  const survives = (): boolean => {
    if (!dead && dies()) {
      dead = true;
      died();
    }
    return !dead;
  };
  const wrap = (port: object): object =>
    new Proxy(port, {
      get: (target, name): unknown => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]): Promise<unknown> => {
          if (!survives()) return never();
          const result: unknown = await Reflect.apply(member, target, args);
          return survives() ? result : never();
        };
      },
    });
  const asked = Object.entries(ports).map(([name, port]) => [name, name === 'clock' ? port : wrap(port)]);
  return Object.fromEntries(asked) as Some;
}
