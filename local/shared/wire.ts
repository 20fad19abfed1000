/** google.protobuf.Timestamp and Duration as the protocol layer shows them. */
export interface Seconds {
  readonly seconds: string | number;
  readonly nanos: number;
}

/** Milliseconds of a timestamp or a duration; undefined when absent. */
export function toMs(value: Seconds | null | undefined): number | undefined {
  return value ? Number(value.seconds) * 1000 + value.nanos / 1e6 : undefined;
}

/** A timestamp or a duration of so many milliseconds. */
export function fromMs(ms: number): Seconds {
  const seconds = Math.floor(ms / 1000);
  return { seconds: String(seconds), nanos: Math.round((ms - seconds * 1000) * 1e6) };
}

/** Items of a listing, a page at a time; the token is the name of the last item seen. */
export function page<T extends { name: string }>(
  items: Iterable<T>,
  pageSize: number,
  pageToken: string,
): { items: T[]; nextPageToken: string } {
  const sorted = [...items].sort((a, b) => (a.name < b.name ? -1 : 1)).filter(({ name }) => name > pageToken);
  const size = Math.min(pageSize || 1000, 1000);
  const items_ = sorted.slice(0, size);
  return { items: items_, nextPageToken: sorted.length > size ? items_.at(-1)!.name : '' };
}

/** Copies the fields that a mask names (snake_case paths, or camelCase) from `source` into a copy of `target`. */
export function applyMask<T extends object>(target: T, source: T, paths: readonly string[]): T {
  const result = structuredClone(target);
  for (const path of paths) {
    const steps = path.split('.').map((step) => step.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));
    let to = result as Record<string, unknown>;
    let from: Record<string, unknown> | null | undefined = source as Record<string, unknown>;
    for (const step of steps.slice(0, -1)) {
      to = (to[step] ??= {}) as Record<string, unknown>;
      from = from?.[step] as Record<string, unknown> | null | undefined;
    }
    to[steps.at(-1)!] = from?.[steps.at(-1)!] ?? null;
  }
  return result;
}
