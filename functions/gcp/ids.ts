import { randomBytes } from 'node:crypto';
import type { Ids } from '../ports.ts';

export function createIds(): Ids {
  return { random: () => randomBytes(16).toString('hex') };
}
