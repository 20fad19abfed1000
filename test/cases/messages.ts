import { readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Messages that broke other systems, and what each is to become. The file is one of `npm run cases`, which compares only
 * `outcome` and `check`; `expected.messages` says it for each message in full.
 */

/** The event as it is decoded, or the reason of the dead letter. */
export type Expected =
  | { readonly code: string }
  | { readonly time: string; readonly payload: string | null; readonly [field: string]: unknown };

export interface MessageCase {
  readonly id: string;
  readonly failure: string;
  readonly messages: readonly {
    readonly data: Buffer;
    readonly attributes: Record<string, string>;
    readonly expected: Expected;
  }[];
}

interface Line {
  readonly id: string;
  readonly failure: string;
  readonly input: {
    readonly messages: readonly {
      readonly data_text?: string;
      readonly data_b64?: string;
      readonly attributes: Record<string, string>;
    }[];
  };
  readonly expected: { readonly messages: readonly Expected[] };
}

export function messageCases(): readonly MessageCase[] {
  const lines = readFileSync(path.join(import.meta.dirname, 'messages.ndjson'), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => {
    const { id, failure, input, expected } = JSON.parse(line) as Line;
    const messages = input.messages.map(({ data_text: text, data_b64: base64, attributes }, n) => ({
      data: text === undefined ? Buffer.from(base64!, 'base64') : Buffer.from(text),
      attributes,
      expected: expected.messages[n]!,
    }));
    return { id, failure, messages };
  });
}
