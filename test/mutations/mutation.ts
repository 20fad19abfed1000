import type { Guarantee } from './list.ts';

/** A guard of the product, and what becomes of the code when somebody takes it away. */
export interface Mutation {
  readonly name: string;
  /** The row of docs/guarantees.md that leans on it. */
  readonly guarantee: Guarantee;
  readonly file: string;
  /** Occurs once in the file. */
  readonly search: string;
  readonly replace: string;
  /** The test, by its name in its file, that fails without the guard. */
  readonly proof: { readonly file: string; readonly test: string };
}
