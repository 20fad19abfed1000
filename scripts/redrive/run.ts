import type { Message } from '../../functions/ports.ts';
import { letterId, messageAgain, reasonOf, timesRedriven, type Letter } from './letter.ts';

/** The chosen dead letters, oldest first. Can be read more than once, with the same result. */
export interface Source {
  pages(): AsyncIterable<readonly Letter[]>;
}

/** What was published again and confirmed. */
export interface Ledger {
  has(id: string): boolean;
  /** Durable when it resolves. */
  add(ids: readonly string[]): Promise<void>;
}

export type Skipped = 'joined' | 'unknown_origin' | 'limit' | 'done';

export interface Rules {
  /** A message that was published again so often is left alone. */
  readonly limit: number;
  /** The topic that a message came from, or why there is none to publish to. */
  topicOf(letter: Letter): Promise<{ readonly topic: string } | { readonly skipped: Skipped }>;
}

type Decision = { readonly topic: string } | { readonly skipped: Skipped };

async function decide(letter: Letter, rules: Rules, ledger: Ledger): Promise<Decision> {
  if (ledger.has(letterId(letter))) return { skipped: 'done' };
  const target = await rules.topicOf(letter);
  if ('topic' in target && timesRedriven(letter) >= rules.limit) return { skipped: 'limit' };
  return target;
}

/** Every dead letter once, although Pub/Sub may have written its row twice. */
async function* distinct(source: Source): AsyncIterable<readonly Letter[]> {
  const seen = new Set<string>();
  for await (const page of source.pages()) {
    yield page.filter((letter) => {
      const id = letterId(letter);
      return !seen.has(id) && seen.add(id);
    });
  }
}

export interface Plan {
  readonly messages: number;
  readonly bytes: number;
  /** Messages by reason and topic, as `reason -> topic`. */
  readonly groups: ReadonlyMap<string, number>;
  readonly skipped: ReadonlyMap<Skipped, number>;
}

/** Counts what `redrive` would do. */
export async function plan(source: Source, rules: Rules, ledger: Ledger): Promise<Plan> {
  const groups = new Map<string, number>();
  const skipped = new Map<Skipped, number>();
  let messages = 0;
  let bytes = 0;
  for await (const page of distinct(source)) {
    for (const letter of page) {
      const decision = await decide(letter, rules, ledger);
      if ('skipped' in decision) {
        skipped.set(decision.skipped, (skipped.get(decision.skipped) ?? 0) + 1);
        continue;
      }
      const group = `${reasonOf(letter)} -> ${decision.topic}`;
      groups.set(group, (groups.get(group) ?? 0) + 1);
      messages++;
      // Pub/Sub bills a message as 1,000 bytes at least.
      bytes += Math.max(1000, letter.data.length + JSON.stringify(letter.attributes).length);
    }
  }
  return { messages, bytes, groups, skipped };
}

export interface Effects {
  /** Result for each message: its id or its error. */
  publish(topic: string, messages: readonly Message[]): Promise<readonly (string | Error)[]>;
  now(): number;
  sleep(ms: number): Promise<void>;
  progress(done: { readonly published: number; readonly failed: number }): void;
}

export interface Result {
  readonly published: number;
  readonly failed: number;
  /** Of the first that failed. */
  readonly error: Error | null;
}

/** Most messages between two entries of the ledger: so many may be published a second time after a crash. */
const BATCH = 100;

/**
 * Publishes, at most `rate` messages a second. What is confirmed is noted after each batch; what fails is not, and is
 * found again by the next run. Ends early when nothing of a batch could be published.
 */
export async function redrive(
  source: Source,
  rules: Rules,
  ledger: Ledger,
  rate: number,
  effects: Effects,
): Promise<Result> {
  const size = Math.min(BATCH, rate);
  let published = 0;
  let failed = 0;
  let error: Error | null = null;
  for await (const page of distinct(source)) {
    for (let at = 0; at < page.length; at += size) {
      const began = effects.now();
      const batch = await publishBatch(page.slice(at, at + size), rules, ledger, effects);
      published += batch.confirmed;
      failed += batch.errors.length;
      error ??= batch.errors[0] ?? null;
      effects.progress({ published, failed });
      if (batch.confirmed === 0 && batch.errors.length > 0) return { published, failed, error };
      const rest = began + ((batch.confirmed + batch.errors.length) / rate) * 1000 - effects.now();
      if (rest > 0) await effects.sleep(rest);
    }
  }
  return { published, failed, error };
}

async function publishBatch(
  letters: readonly Letter[],
  rules: Rules,
  ledger: Ledger,
  effects: Effects,
): Promise<{ readonly confirmed: number; readonly errors: readonly Error[] }> {
  const byTopic = new Map<string, Letter[]>();
  for (const letter of letters) {
    const decision = await decide(letter, rules, ledger);
    if ('topic' in decision) byTopic.set(decision.topic, [...(byTopic.get(decision.topic) ?? []), letter]);
  }
  const confirmed: string[] = [];
  const errors: Error[] = [];
  for (const [topic, chosen] of byTopic) {
    const results = await effects.publish(topic, chosen.map(messageAgain));
    results.forEach((result, index) => {
      if (result instanceof Error) errors.push(result);
      else confirmed.push(letterId(chosen[index]!));
    });
  }
  if (confirmed.length > 0) await ledger.add(confirmed);
  return { confirmed: confirmed.length, errors };
}
