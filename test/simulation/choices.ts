/** The one source of chance. Every decision is an index into weighted options; 0 is always the plainest. */
export interface Choices {
  pick(weights: readonly number[]): number;
  /** All decisions so far; `listed` replays them. */
  readonly made: readonly number[];
}

/** Numbers from 0 (included) to 1 (excluded) that a seed fixes: a multiplicative hash of a counter. */
export function random(seed: number): () => number {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function seeded(seed: number): Choices {
  const next = random(seed);
  const made: number[] = [];
  return {
    made,
    pick(weights) {
      let rest = next() * weights.reduce((sum, weight) => sum + weight, 0);
      let index = 0;
      while (index < weights.length - 1 && (rest -= weights[index]!) >= 0) index++;
      made.push(index);
      return index;
    },
  };
}

/** Decisions from a list; the plainest one where the list has ended or names an option that is not there. */
export function listed(list: readonly number[]): Choices {
  const made: number[] = [];
  return {
    made,
    pick(weights) {
      const wanted = list[made.length] ?? 0;
      const index = (weights[wanted] ?? 0) > 0 ? wanted : 0;
      made.push(index);
      return index;
    },
  };
}
