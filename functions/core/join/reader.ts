import type { Micros } from '../event.ts';

export const COLUMN = /^[A-Za-z_]\w{0,299}$/;
const UNITS: Readonly<Record<string, Micros>> = { s: 1e6, m: 60e6, h: 3600e6, d: 86_400e6 };

/** What is wrong with a member of a settings file; `source.key` is a member of a member. */
export interface Problem {
  readonly member: string;
  readonly text: string;
}

/** Reads the members of one JSON object and collects every problem instead of stopping at the first. */
export class Reader {
  readonly problems: Problem[] = [];
  readonly #file: Readonly<Record<string, unknown>>;
  readonly #prefix: string;
  constructor(file: Readonly<Record<string, unknown>>, allowed: readonly string[], prefix = '') {
    this.#file = file;
    this.#prefix = prefix;
    for (const member of Object.keys(file)) {
      if (!allowed.includes(member)) this.#problem(member, `is unknown; members are ${allowed.join(', ')}`);
    }
  }
  #problem(member: string, text: string): void {
    const value = this.#value(member);
    const name = this.#prefix + member;
    const got = value === null ? '' : `, got ${JSON.stringify(value)}`;
    this.problems.push({ member: name, text: `${name} ${text}${got}` });
  }
  /** Null is as good as absent. */
  #value(member: string): unknown {
    return this.#file[member] ?? null;
  }
  required(member: string, pattern: RegExp, expected: string): string {
    if (this.#value(member) === null) this.#problem(member, 'is missing');
    return this.text(member, '', pattern, expected);
  }
  text<T>(member: string, fallback: T, pattern: RegExp, expected: string): string | T {
    const value = this.#value(member);
    if (value === null) return fallback;
    if (typeof value === 'string' && pattern.test(value)) return value;
    this.#problem(member, `must be ${expected}`);
    return fallback;
  }
  duration(member: string, fallback: Micros): Micros {
    const text = this.text(member, null, /^\d{1,7}[smhd]$/, 'a duration such as 30s, 10m or 6h');
    return text === null ? fallback : Number(text.slice(0, -1)) * UNITS[text.at(-1)!]!;
  }
  columns(member: string, pattern = COLUMN, expected = 'a list of column names'): readonly string[] {
    const value = this.#value(member);
    if (value === null) return [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string' && pattern.test(item)))
      return value as string[];
    this.#problem(member, `must be ${expected}`);
    return [];
  }
  count(member: string, fallback: number): number {
    const value = this.#value(member);
    if (value === null) return fallback;
    if (Number.isSafeInteger(value) && (value as number) > 0) return value as number;
    this.#problem(member, 'must be a positive whole number');
    return fallback;
  }
}
