import { toError, TransientError } from '../../functions/core/errors.ts';
import type { Micros } from '../../functions/core/event.ts';
import type { JobProgress, ProbeAnswer } from '../../functions/core/watch/judge.ts';
import type { Probes } from '../../functions/ports.ts';
import { through, type Gate } from './gate.ts';

/** How something that is watched stands. */
export type Standing = 'open' | 'ready' | 'lost' | 'busy' | 'silent';

/** One look at something that is watched. */
export interface Look {
  readonly name: string;
  readonly begun: Micros;
  /** What whoever looked was told; `error` is no answer, null none yet. */
  told: Standing | 'error' | null;
}

/**
 * Things that are watched, by name: `https://HOST/{name}`, or the job of that id. An address answers `{"state": ...}`;
 * `busy` is a status 503, `silent` no answer within the deadline.
 */
export class FakeProbes {
  readonly looks: Look[] = [];
  readonly #now: () => Micros;
  readonly #standing: (name: string, now: Micros) => Standing;
  /** Called as a look begins. */
  onLook: (look: Look) => void = () => undefined;

  constructor(now: () => Micros, standing: (name: string, now: Micros) => Standing) {
    this.#now = now;
    this.#standing = standing;
  }

  #look(name: string): Standing {
    const standing = this.#standing(name, this.#now());
    if (standing === 'silent') throw new TransientError('deadline_exceeded', 'no answer');
    return standing;
  }

  /** The port of one instance. */
  port(gate: Gate): Probes {
    const look = async (method: string, name: string): Promise<Standing> => {
      const one: Look = { name, begun: this.#now(), told: null };
      this.looks.push(one);
      this.onLook(one);
      try {
        const told = await through(gate, { port: 'probes', method, resource: name }, () => this.#look(name));
        one.told = told;
        return told;
      } catch (error) {
        one.told = 'error';
        throw toError(error);
      }
    };
    return {
      http: async ({ url }) => httpAnswer(await look('http', new URL(url).pathname.slice(1))),
      job: async ({ jobId }) => progress(await look('job', jobId)),
    };
  }
}

function httpAnswer(standing: Standing): ProbeAnswer {
  return standing === 'busy'
    ? { status: 503, body: 'busy' }
    : { status: 200, body: JSON.stringify({ state: standing }) };
}

function progress(standing: Standing): JobProgress {
  switch (standing) {
    case 'ready':
      return { state: 'done', statistics: { rows: 1 } };
    case 'lost':
      return { state: 'failed', reason: 'invalidQuery', message: 'no such table' };
    case 'open':
      return { state: 'running' };
    default:
      return { state: 'absent' };
  }
}
