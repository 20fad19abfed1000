import type { AcceptedListener } from '../pubsub/server.ts';
import { PROJECT } from '../resources.ts';
import { counted } from './words.ts';

type Message = Parameters<AcceptedListener>[1][number];

/** Lines in one second; what comes beyond is only counted. */
const MOST = 20;

/** A line for each dead letter and each summary, while somebody tries events of their own. */
export class Live {
  readonly #print: (line: string) => void;
  #on = false;
  #second = 0;
  #lines = 0;
  #more = 0;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  start(): void {
    this.#on = true;
  }

  readonly listener: AcceptedListener = (topic, messages) => {
    const describe = DESCRIBE[topic];
    if (!this.#on || describe === undefined) return;
    for (const message of messages) this.#line(Math.floor(message.publishTime / 1000), () => describe(message));
  };

  #line(second: number, text: () => string): void {
    if (second !== this.#second) {
      [this.#second, this.#lines] = [second, 0];
      if (this.#more > 0) this.#print(`… and ${counted(this.#more, 'more summary or dead letter', 'more summaries and dead letters')}`); // prettier-ignore
      this.#more = 0;
    }
    if (this.#lines++ < MOST) this.#print(text());
    else this.#more++;
  }
}

const DESCRIBE: Readonly<Record<string, (message: Message) => string>> = {
  [`projects/${PROJECT}/topics/dead-letters`]: deadLetterLine,
  [`projects/${PROJECT}/topics/summaries`]: summaryLine,
};

/** `10:15:03  dead letter  "my-flight"  invalid_timestamp: use RFC 3339 ...` */
export function deadLetterLine({ attributes, data, publishTime }: Message): string {
  const { unique_key: key, reason = 'delivery attempts used up', hint } = attributes;
  const what = key === undefined ? shown(data.toString('utf8')) : shown(key);
  return `${clock(publishTime)}  dead letter  ${what}  ${reason}${hint === undefined ? '' : `: ${hint}`}`;
}

/** `10:15:03  summary      "my-flight"  finished by "arrived" after 2 steps, 61.5 s` */
export function summaryLine({ data, publishTime }: Message): string {
  const row = JSON.parse(data.toString('utf8')) as {
    unique_key: string;
    revision: number;
    state: string;
    complete: boolean;
    final_status: string | null;
    total_steps: number;
    duration_seconds: number | null;
  };
  const by = row.final_status === null ? '' : ` by ${shown(row.final_status)}`;
  const seconds = row.duration_seconds === null ? '' : `, ${row.duration_seconds.toLocaleString('en-US')} s`;
  const lacks = row.state === 'finished' && !row.complete ? ', sequence numbers are missing' : '';
  const revision = row.revision > 1 ? `, revision ${row.revision}` : '';
  return `${clock(publishTime)}  summary      ${shown(row.unique_key)}  ${row.state}${by} after ${counted(row.total_steps, 'step')}${seconds}${lacks}${revision}`;
}

const LONGEST = 60;

/** Quoted, on one line, without characters that move a cursor. */
function shown(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
  return JSON.stringify(cut).replace(/[\u007f-\u009f]/g, '?');
}

function clock(ms: number): string {
  return new Date(ms).toLocaleTimeString('en-GB');
}
