import { scanObject } from '../json.ts';

/** A settings file that people write: its object, and the lines on which members stand. */
export class JsonFile {
  readonly #name: string;
  readonly #text: string;
  constructor(name: string, text: string) {
    this.#name = name;
    this.#text = text;
  }

  /** @throws Error `FILE:LINE: reason` when it is no JSON object */
  object(): Readonly<Record<string, unknown>> {
    let members: ReturnType<typeof scanObject>;
    try {
      members = scanObject(this.#text);
    } catch (error) {
      const [, reason, at, found] = /^(.*) at character (\d+)(.*)$/s.exec((error as Error).message) ?? [];
      throw new Error(this.#at(Number(at ?? 0)) + (reason ?? (error as Error).message) + (found ?? ''), {
        cause: error,
      });
    }
    if (typeof members === 'string') throw new Error(`${this.#at(0)}expected a JSON object`);
    return JSON.parse(this.#text) as Readonly<Record<string, unknown>>;
  }

  /** `FILE:LINE: ` of a member, `a.b` for a member of a member; of its nearest parent when it is not there. */
  where(member: string): string {
    let at = 0;
    for (const name of member.split('.')) {
      const found = new RegExp(`"${name.replace(/\W/g, '\\$&')}"\\s*:`).exec(this.#text.slice(at));
      if (found === null) break;
      at += found.index;
    }
    return this.#at(at);
  }

  #at(position: number): string {
    return `${this.#name}:${this.#text.slice(0, position).split('\n').length}: `;
  }
}
