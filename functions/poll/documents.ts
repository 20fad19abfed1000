import { documentId } from '../core/ids.ts';
import { decodeWatchDocument } from '../core/watch/codec.ts';
import type { WatchState } from '../core/watch/state.ts';
import type { Document } from '../ports.ts';

export const WATCHES = 'watches';

export function watchPath(watchId: string): string {
  return `${WATCHES}/${documentId(watchId)}`;
}

export function readWatch(document: Document | null | undefined): WatchState | null {
  return document === null || document === undefined ? null : decodeWatchDocument(document);
}
