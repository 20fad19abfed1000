import { setTimeout as sleep } from 'node:timers/promises';
import type { Call, Fault, FaultHook } from '../shared/faults.ts';
import { seeded } from './random.ts';

/** gRPC codes that mean "try again": UNAVAILABLE, ABORTED, DEADLINE_EXCEEDED, INTERNAL. */
const CODES = [14, 10, 4, 13];
/** Housekeeping of the launcher and of the clients; a fault there says nothing about Codaflow. */
const SPARED = /^(Create|Get|List|Delete|Update|Modify|Acknowledge|tables\.|datasets\.|Listen)/;
/** Deliveries to a subscriber: a stream is not an answer that could be lost. */
const STREAM = 'StreamingPull';

interface Killable {
  readonly name: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** Seeded trouble: a share of the calls fails or is answered in vain, deliveries repeat, processes are killed. */
export class Chaos {
  readonly counts = { refused: 0, answersLost: 0, delayed: 0, deliveredTwice: 0, killed: 0 };
  readonly #random: () => number;
  readonly #stop = new AbortController();
  #on = false;
  #killer: Promise<void> | null = null;

  constructor(seed: number) {
    this.#random = seeded(seed);
  }

  /** For the servers; silent until `start` and after `stop`. */
  readonly hook: FaultHook = (call: Call): Fault | undefined => {
    if (!this.#on || SPARED.test(call.method)) return undefined;
    const draw = this.#random();
    const code = CODES[Math.floor(this.#random() * CODES.length)]!;
    if (call.method === STREAM) return draw < 0.02 ? this.#twice() : undefined;
    // A producer whose events have no id of their own must not publish one of them twice by itself.
    const mayLose = !(call.method === 'Publish' && call.resource.endsWith('/topics/events'));
    if (draw < 0.01) {
      this.counts.refused++;
      return { kind: 'refuse', code };
    }
    if (draw < 0.02 && mayLose) {
      this.counts.answersLost++;
      return { kind: 'lose_answer', code };
    }
    if (draw < 0.03) {
      this.counts.delayed++;
      return { kind: 'delay', ms: Math.floor(this.#random() * 200) };
    }
    return draw < 0.05 && isDelivery(call) ? this.#twice() : undefined;
  };

  /** Begins; kills one of the processes every half to one and a half seconds. */
  start(processes: readonly Killable[]): void {
    this.#on = true;
    this.#killer = this.#kill(processes).catch((error: unknown) => {
      if (!this.#stop.signal.aborted) throw error;
    });
  }

  /** Ends all trouble; every killed process runs again when this resolves. */
  async stop(): Promise<void> {
    this.#on = false;
    this.#stop.abort();
    await this.#killer;
  }

  #twice(): Fault {
    this.counts.deliveredTwice++;
    return { kind: 'deliver_twice' };
  }

  async #kill(processes: readonly Killable[]): Promise<void> {
    for (;;) {
      await sleep(500 + Math.floor(this.#random() * 1000), undefined, { signal: this.#stop.signal });
      const victim = processes[Math.floor(this.#random() * processes.length)]!;
      this.counts.killed++;
      await victim.kill();
      await victim.start();
    }
  }
}

function isDelivery({ service, method }: Call): boolean {
  return service === 'pubsub' && /push|deliver/i.test(method);
}
