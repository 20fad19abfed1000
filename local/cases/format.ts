import { readLines } from '../demo/input.ts';

/** One message of a case: published through Pub/Sub, or a body that is posted to the function. */
export type CaseMessage =
  | { readonly kind: 'message'; readonly data: Buffer | null; readonly attributes: Readonly<Record<string, string>> }
  | { readonly kind: 'body'; readonly body: unknown };

export interface Case {
  readonly id: string;
  readonly outcome: string;
  readonly check: string;
  readonly messages: readonly CaseMessage[];
  /** Environment of the function that the case asks for. */
  readonly env: Readonly<Record<string, string>>;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * The cases of a file that consist of messages; sequences of steps, recipes and checks of a deployment are left out.
 *
 * @throws Error that names the line
 */
export async function readCases(file: string): Promise<{ cases: Case[]; others: number }> {
  const cases: Case[] = [];
  let others = 0;
  for (const [index, line] of (await readLines(file)).entries()) {
    const parsed = parse(line, index);
    const input = parsed['input'] as Json;
    const messages = toMessages(input);
    if (messages === null) {
      others++;
      continue;
    }
    const expected = parsed['expected'] as Json;
    cases.push({
      id: String(parsed['id']),
      outcome: String(expected['outcome']),
      check: typeof expected['check'] === 'string' ? expected['check'] : '',
      messages,
      env: (input['env'] ?? {}) as Readonly<Record<string, string>>,
    });
  }
  return { cases, others };
}

function toMessages(input: Json): CaseMessage[] | null {
  switch (input['kind']) {
    case 'message': {
      const { data_b64: data, data_text: text } = input;
      // The base64 is authoritative; without any the message has attributes only.
      const bytes =
        typeof data === 'string' ? Buffer.from(data, 'base64') : typeof text === 'string' ? Buffer.from(text) : null;
      return [{ kind: 'message', data: bytes, attributes: (input['attributes'] ?? {}) as Record<string, string> }];
    }
    case 'messages': {
      const nested = (input['messages'] as Json[]).map(toMessages);
      return nested.includes(null) ? null : nested.flatMap((messages) => messages ?? []);
    }
    case 'push_body':
      return [{ kind: 'body', body: input['body'] }];
    case 'cloudevent':
    case 'legacy_event': {
      const { kind: _, ...body } = input;
      return [{ kind: 'body', body }];
    }
    default:
      return null;
  }
}

function parse(line: string, index: number): Json {
  try {
    return JSON.parse(line) as Json;
  } catch (error) {
    throw new Error(`line ${index + 1} is no JSON`, { cause: error });
  }
}
