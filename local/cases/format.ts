import { isObject, nameOf, numberedLines } from '../demo/input.ts';
import { InputError } from '../demo/options.ts';

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
 * @throws InputError that names the file, the line and what is wrong
 */
export async function readCases(file: string): Promise<{ cases: Case[]; others: number }> {
  const lines = await numberedLines(file);
  if (lines.length === 0) throw new InputError(`${nameOf(file)} is empty: cases are JSON objects, one a line`);
  const read = lines.map(({ text, number }) => {
    try {
      return toCase(text);
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      throw new InputError(`${nameOf(file)}, line ${number}: ${error.message}`, { cause: error });
    }
  });
  const cases = read.filter((one) => one !== null);
  return { cases, others: read.length - cases.length };
}

/** What is wrong with a line. */
class Wrong extends Error {}

/** @throws Wrong */
function toCase(line: string): Case | null {
  if (!isObject(line))
    throw new Wrong('no JSON object; a case is one, such as {"id": ..., "input": ..., "expected": ...}');
  const parsed = JSON.parse(line) as Json;
  const id = text(parsed, 'id');
  const input = object(parsed, 'input');
  const expected = object(parsed, 'expected');
  text(input, 'kind', 'input.');
  const messages = toMessages(input);
  if (messages === null) return null;
  return {
    id,
    outcome: text(expected, 'outcome', 'expected.'),
    check: typeof expected['check'] === 'string' ? expected['check'] : '',
    messages,
    env: (input['env'] === undefined ? {} : object(input, 'env', 'input.')) as Readonly<Record<string, string>>,
  };
}

function text(of: Json, name: string, path = ''): string {
  const value = of[name];
  if (typeof value !== 'string') throw new Wrong(`"${path}${name}" is missing or is no text`);
  return value;
}

function object(of: Json, name: string, path = ''): Json {
  const value = of[name];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Wrong(`"${path}${name}" is missing or is no object`);
  return value as Json;
}

function toMessages(input: Json): CaseMessage[] | null {
  switch (input['kind']) {
    case 'message': {
      const { data_b64: data, data_text: written } = input;
      // The base64 is authoritative; without any the message has attributes only.
      const bytes =
        typeof data === 'string'
          ? Buffer.from(data, 'base64')
          : typeof written === 'string'
            ? Buffer.from(written)
            : null;
      return [{ kind: 'message', data: bytes, attributes: (input['attributes'] ?? {}) as Record<string, string> }];
    }
    case 'messages': {
      const list = input['messages'];
      if (!Array.isArray(list) || list.some((one) => typeof one !== 'object' || one === null))
        throw new Wrong('"input.messages" is no array of messages');
      const nested = (list as Json[]).map(toMessages);
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
