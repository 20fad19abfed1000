import type { Appended, Table } from '../../functions/ports.ts';
import { through, type Gate } from './gate.ts';

export interface Committed<Row> {
  /** Commit time, epoch microseconds, strictly increasing. */
  readonly time: number;
  readonly row: Row;
}

/** Appended rows with their commit times; shared by all instances. */
export class FakeTable<Row> {
  readonly commits: Committed<Row>[] = [];
  readonly #now: () => number;
  /** Why a row is refused; null takes it. */
  readonly #refuse: (row: Row) => string | null;
  constructor(now: () => number, refuse: (row: Row) => string | null = () => null) {
    this.#now = now;
    this.#refuse = refuse;
  }

  /** One atomic append: all its rows have one commit time. */
  append(rows: readonly Row[]): readonly Appended[] {
    const time = Math.max(this.#now(), (this.commits.at(-1)?.time ?? 0) + 1);
    return rows.map((row) => {
      const reason = this.#refuse(row);
      if (reason !== null) return { ok: false, reason };
      this.commits.push({ time, row });
      return { ok: true };
    });
  }

  /** The port of one instance. */
  port(name: 'events' | 'summaries', gate: Gate): Table<Row> {
    return {
      append: async (rows) => through(gate, { port: name, method: 'append', resource: name }, () => this.append(rows)),
    };
  }
}

const DAY = 86_400e6;

/** Why a table by day of an event time refuses a streamed row: 3,650 days back, 366 ahead. Null takes it. */
export function whyOutside(eventTime: number, now: number): string | null {
  const days = Math.floor(eventTime / DAY) - Math.floor(now / DAY);
  return days < -3650 || days > 366 ? 'the partition is outside the allowed bounds' : null;
}
