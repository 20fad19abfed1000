import type { HttpAnswer, HttpRequest } from '../../functions/http/handler.ts';
import type { Entry } from './instance.ts';
import type { World } from './world.ts';

const PATIENCE = 90e6;
const BACKOFF = { least: 5e6, most: 300e6 };

/**
 * Somebody who calls a function over HTTP and asks again until the answer is final: not 429, not 5xx, and there at all.
 * `told` hears every answer, also one that came too late.
 */
export function callUntilFinal(
  world: World,
  entry: Entry,
  request: Partial<HttpRequest>,
  told: (answer: HttpAnswer) => void,
  attempt = 1,
): void {
  let open = true;
  const again = (): void => {
    open = false;
    const wait = Math.min(BACKOFF.most, BACKOFF.least * 2 ** (attempt - 1));
    world.tasks.add(`${entry} call again`, world.clock.now() + wait, () =>
      callUntilFinal(world, entry, request, told, attempt + 1),
    );
  };
  const label = `${entry} call ${world.randomId().slice(-6)} attempt ${attempt}`;
  world.chooseInstance().serve(entry, label, request, (answer) => {
    told(answer);
    if (!open) return;
    if (answer.status === 429 || answer.status >= 500) again();
    else open = false;
  });
  world.tasks.add(`${entry} call deadline`, world.clock.now() + PATIENCE, () => {
    if (open) again();
  });
}
