/** Events of one transaction must share few keys, and no key may be in two transactions at once. */
export interface ChunkLimits {
  readonly keys: number;
  readonly events: number;
}

/**
 * Cuts items into waves of chunks: at most `keys` keys and `events` items in a chunk, no key in two chunks of one wave,
 * and the items of a key in their order over the waves. So the chunks of a wave may run side by side.
 */
export function cutIntoWaves<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  limits: ChunkLimits,
): Item[][][] {
  const waves: { keys: number; items: Item[] }[][] = [];
  const byKey = [...Map.groupBy(items, keyOf)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [, ofKey] of byKey) {
    for (let start = 0, wave = 0; start < ofKey.length; start += limits.events, wave++) {
      const part = ofKey.slice(start, start + limits.events);
      const chunks = (waves[wave] ??= []);
      const last = chunks.at(-1);
      if (last === undefined || last.keys >= limits.keys || last.items.length + part.length > limits.events) {
        chunks.push({ keys: 1, items: part });
      } else {
        last.keys++;
        last.items.push(...part);
      }
    }
  }
  return waves.map((chunks) => chunks.map((chunk) => chunk.items));
}
