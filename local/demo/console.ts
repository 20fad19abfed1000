import type { WriteStream } from 'node:tty';
import { columns, wrap } from './words.ts';

/** Lines and one line that is rewritten in place, on a terminal; plain lines elsewhere. */
export class Console {
  readonly colour: boolean;
  readonly #stream: NodeJS.WriteStream | WriteStream;
  readonly #live: boolean;
  #status = '';
  #lastPlain = Date.now();

  /** `toStderr` leaves stdout to something else. */
  constructor(toStderr: boolean) {
    this.#stream = toStderr ? process.stderr : process.stdout;
    this.#live = this.#stream.isTTY === true;
    this.colour = this.#live && !process.env['NO_COLOR'];
  }

  /** Columns; null where nothing limits them. */
  get width(): number | null {
    return columns(this.#stream);
  }

  line(text = ''): void {
    this.#erase();
    this.#stream.write(`${text}\n`);
    if (this.#status !== '') this.#stream.write(this.#status);
  }

  /** A sentence, in lines that fit. */
  note(text: string): void {
    this.line(wrap(text, this.width));
  }

  /** Replaces the status line; elsewhere than on a terminal one every five seconds becomes a line. */
  status(text: string): void {
    if (this.#live) {
      this.#erase();
      this.#status = text.slice(0, (this.width ?? 80) - 1);
      this.#stream.write(this.#status);
    } else if (Date.now() - this.#lastPlain > 5000) {
      this.#lastPlain = Date.now();
      this.#stream.write(`${text}\n`);
    }
  }

  /** A status that only a terminal shows. */
  glimpse(text: string): void {
    if (this.#live) this.status(text);
  }

  /** Ends the status line, with a last text that stays. */
  done(text: string): void {
    this.#erase();
    this.#status = '';
    this.#stream.write(`${text}\n`);
  }

  /** Ends the status line. */
  clear(): void {
    this.#erase();
    this.#status = '';
  }

  #erase(): void {
    if (this.#live && this.#status !== '') this.#stream.write('\r\u001b[2K');
  }
}
