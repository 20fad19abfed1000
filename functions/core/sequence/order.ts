import type { Micros } from '../event.ts';

/** Place of an event in its key: a total order, because ids are unique inside a key. */
export interface Position {
  readonly time: Micros;
  readonly eventId: string;
}

/** By code points, which is the order of UTF-8 bytes and so of BigQuery; `<` would compare UTF-16 code units. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const astral = Number(isSurrogate(x)) - Number(isSurrogate(y));
    return astral === 0 ? x - y : astral;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

export function comparePosition(a: Position, b: Position): number {
  return a.time === b.time ? compareText(a.eventId, b.eventId) : a.time - b.time;
}
