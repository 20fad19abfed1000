import { decodeState, encodeState } from '../core/sequence/codec.ts';
import type { Rules } from '../core/sequence/rules.ts';
import type { State } from '../core/sequence/state.ts';
import { documentId } from '../core/ids.ts';
import type { Document } from '../ports.ts';

export const SEQUENCES = 'sequences';

/** A key whose summary is due. */
export interface DueKey {
  readonly uniqueKey: string;
  /** Id of its document. */
  readonly id: string;
}

export function sequencePath(uniqueKey: string): string {
  return `${SEQUENCES}/${documentId(uniqueKey)}`;
}

/** Of an identity that has a document of its own, below that of its key. */
export function seenPath(sequence: string, name: string): string {
  return `${sequence}/ids/${name}`;
}

export function readState(document: Document | null | undefined): State | null {
  return document === null || document === undefined ? null : decodeState(document);
}

export function writeState(state: State, rules: Rules): Document {
  return { ...encodeState(state, rules) };
}
