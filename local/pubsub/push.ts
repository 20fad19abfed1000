import { background } from '../shared/background.ts';
import type { Faults } from '../shared/faults.ts';
import type { HttpSender, OutgoingRequest } from '../shared/http-out.ts';
import type { Meter } from '../shared/meter.ts';
import { bearer } from '../shared/oidc.ts';
import type { Time } from '../shared/time.ts';
import { pushRequest } from './push-request.ts';
import type { Consumer, Lease, Subscription } from './subscription.ts';
import { PushWindow, type PushLimits } from './window.ts';

export interface PushEnv {
  readonly time: Time;
  readonly sender: HttpSender;
  readonly faults: Faults;
  readonly meter: Meter;
  readonly limits: PushLimits;
}

/** Statuses that acknowledge a message. */
const SUCCESS = new Set([102, 200, 201, 202, 204]);
/** A token is used again for so long, of the hour that it lives. */
const TOKEN_MS = 30 * 60_000;
/** What a request costs at least, in bytes. */
const MIN_BYTES = 1000;

/** Sends the messages of a subscription to its endpoint, one to a request. */
export class Pusher implements Consumer {
  readonly #subscription: Subscription;
  readonly #env: PushEnv;
  readonly #window: PushWindow;
  #outstanding = 0;
  #closed = false;
  #cancelPause: (() => void) | undefined;
  #token: { value: string; made: number; key: string } | undefined;

  constructor(subscription: Subscription, env: PushEnv) {
    this.#subscription = subscription;
    this.#env = env;
    this.#window = new PushWindow(env.limits);
  }

  pump(): void {
    while (!this.#closed && !this.#cancelPause && this.#outstanding < this.#window.size) {
      const [lease] = this.#subscription.take(1, Infinity, Infinity);
      if (!lease) return;
      this.#outstanding++;
      background(this.#deliver(lease));
    }
  }

  close(): void {
    this.#closed = true;
    this.#cancelPause?.();
    this.#cancelPause = undefined;
  }

  async #deliver(lease: Lease): Promise<void> {
    const started = this.#env.time.now();
    const failure = await this.#attempt(lease).catch((error: unknown) => String(error));
    this.#outstanding--;
    // The settings changed or the server ended: the message belongs to whoever comes next.
    if (this.#closed && failure !== undefined) {
      this.#subscription.nack(lease);
      return;
    }
    if (failure === undefined) {
      this.#window.succeeded();
      this.#subscription.ack(lease);
      return;
    }
    const pause = this.#window.failed(started, this.#env.time.now());
    if (pause > 0 && !this.#cancelPause) {
      this.#cancelPause = this.#env.time.setTimeout(() => {
        this.#cancelPause = undefined;
        this.pump();
      }, pause);
    }
    this.#subscription.nack(lease);
  }

  /** One delivery; undefined when the endpoint acknowledged, else why not. */
  async #attempt(lease: Lease): Promise<string | undefined> {
    const { faults, time } = this.#env;
    const fault = faults.next('pubsub', 'push', this.#subscription.name);
    if (fault?.kind === 'refuse') return fault.message ?? 'injected: push refused';
    if (fault?.kind === 'delay') await new Promise<void>((resolve) => void time.setTimeout(resolve, fault.ms));
    if (this.#closed) return 'the subscription changed';
    const request = this.#request(lease);
    const repeat = fault?.kind === 'deliver_twice' ? this.#send(request, lease) : undefined;
    const failure = await this.#send(request, lease);
    await repeat;
    return fault?.kind === 'lose_answer' ? 'injected: answer of push lost' : failure;
  }

  async #send(request: OutgoingRequest, { entry }: Lease): Promise<string | undefined> {
    const { sender, meter } = this.#env;
    meter.add('pubsub.deliver_messages');
    meter.add('pubsub.deliver_bytes', Math.max(MIN_BYTES, entry.message.size));
    const { status, error } = await sender.send(request);
    return SUCCESS.has(status) ? undefined : (error ?? `HTTP status ${status}`);
  }

  #request({ entry }: Lease): OutgoingRequest {
    const request = pushRequest(this.#subscription.settings, entry);
    const { oidcToken } = this.#subscription.settings.pushConfig!;
    if (!oidcToken?.serviceAccountEmail) return request;
    return { ...request, headers: { ...request.headers, authorization: this.#bearer(oidcToken, request.url) } };
  }

  #bearer(token: { serviceAccountEmail: string; audience: string }, url: string): string {
    const now = this.#env.time.now();
    const key = `${token.serviceAccountEmail} ${token.audience} ${url}`;
    if (!this.#token || this.#token.key !== key || now - this.#token.made > TOKEN_MS) {
      this.#token = { value: bearer(token, url, now), made: now, key };
    }
    return this.#token.value;
  }
}
