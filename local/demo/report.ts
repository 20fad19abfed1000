import { styleText } from 'node:util';
import { passed, type Check } from './verdict.ts';
import { counted, grouped, size, wrap } from './words.ts';

export interface Report {
  readonly verdict: 'correct' | 'wrong';
  /** `messages`: published in this run; `known`: lines not published, since the state folder has them. */
  readonly events: {
    readonly messages: number;
    readonly known: number;
    readonly repeats: number;
    readonly overHttp: number;
    readonly days: number;
  };
  readonly checks: readonly Check[];
  /** Keys that the comparison leaves out. */
  readonly undecided: number;
  readonly expired: number;
  readonly received: { readonly messages: number; readonly repeated: number };
  readonly seconds: { readonly replay: number; readonly settle: number };
  /** Peak resident memory in bytes and number of starts, by function. */
  readonly functions: Readonly<Record<string, { readonly peakMemory: number; readonly starts: number }>>;
  readonly billed: Readonly<Record<string, number>>;
  readonly hints: readonly string[];
}

const NAMES: Readonly<Record<string, string>> = {
  published: 'Messages published',
  rows: 'Rows in events (repeats allowed)',
  unique: 'Unique events',
  finished: 'Sequences finished',
  open: 'Sequences open',
  summaries: 'Summaries',
  joined: 'Joined rows',
  results: 'Results received',
  dead_letters: 'Dead letters',
};
const BY_ROW = new Set(['unique', 'summaries', 'joined', 'results', 'dead_letters']);
const SERVICES: Readonly<Record<string, string>> = {
  bigquery: 'BigQuery',
  firestore: 'Firestore',
  pubsub: 'Pub/Sub',
  scheduler: 'Scheduler',
  tasks: 'Tasks',
};
export const MEMORY_LIMIT = 512 * 2 ** 20;
const NO_BREAK = '\u00a0';
/** Columns where nothing limits them. */
const WIDTH = 100;
/** Columns of a row of the table with its note. */
const WITH_NOTE = 76;

/** The report as lines of text for a terminal of so many columns. */
export function render(report: Report, colour: boolean, width: number | null = null): string {
  const columns = width ?? WIDTH;
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  const [wide, column] = columns >= WITH_NOTE ? [true, 12] : [false, 10];
  const lines: string[] = [''];
  const row = (name: string, found: string, expected: string, note: string): void => {
    lines.push(`  ${name.padEnd(33)}${found.padStart(column)}${expected.padStart(column)}  ${note}`);
  };
  lines.push(paint('bold', `  ${''.padEnd(33)}${'found'.padStart(column)}${'expected'.padStart(column)}`));
  for (const check of report.checks) {
    const good = passed(check);
    const least = check.rule === 'least' ? '≥ ' : '';
    const sign = good ? paint('green', '✓') : paint('red', '✗');
    if (check.rule === 'none') {
      row(
        NAMES[check.name] ?? check.name,
        grouped(check.found),
        '',
        `not compared${wide ? ': the join is your own' : ''}`,
      );
      continue;
    }
    const compared = wide && BY_ROW.has(check.name) && good && check.expected > 0 ? paint('dim', ' each compared') : '';
    row(NAMES[check.name] ?? check.name, grouped(check.found), least + grouped(check.expected), sign + compared);
    const more = check.different - check.differences.length;
    for (const text of [...check.differences, ...(more > 0 ? [`and ${grouped(more)} more`] : [])])
      lines.push(paint('red', wrap(text, columns, '      ')));
  }
  lines.push('', ...details(report).map((text) => wrap(text, columns, '  ')));
  lines.push('', '  Google Cloud would bill', ...billed(report.billed, columns));
  for (const hint of report.hints) lines.push('', paint('yellow', wrap(hint, columns, '  ')));
  lines.push(
    '',
    report.verdict === 'correct'
      ? paint(['green', 'bold'], '  Verdict: correct')
      : paint(['red', 'bold'], '  Verdict: WRONG'),
    '',
  );
  return lines.join('\n');
}

function details({ seconds, events, received, undecided, expired, functions }: Report): string[] {
  const rate = Math.round(events.messages / Math.max(seconds.replay + seconds.settle, 0.001));
  const memory = Object.entries(functions).map(
    ([name, { peakMemory, starts }]) =>
      `${name} ${Math.round(peakMemory / 2 ** 20)} MiB${starts > 1 ? ` (${starts} starts)` : ''}`,
  );
  return [
    `${counted(events.repeats, 'message')} repeated an event; ${counted(received.repeated, 'result')} came more than once under the same id`,
    ...(events.overHttp === 0 ? [] : [`${counted(events.overHttp, 'event')} came over HTTP: as the table has them, they are taken as published`]), // prettier-ignore
    ...(expired === 0 ? [] : [`${counted(expired, 'sequence')} expired: no completion, and no event for 24 h`]),
    ...(undecided === 0 ? [] : [`${counted(undecided, 'key')} left out: the order of arrival decides what comes out (one identity with two contents, or an event after the key expired)`]), // prettier-ignore
    events.messages === 0
      ? `Nothing published in this run; quiet after ${seconds.settle.toFixed(1)} s`
      : `Published in ${seconds.replay.toFixed(1)} s, quiet ${seconds.settle.toFixed(1)} s later: ${counted(rate, 'event')}/s from end to end`,
    `Peak memory: ${memory.join(', ')} (limit 512 MiB each)`,
  ];
}

/** A line for each service. */
function billed(amounts: Report['billed'], columns: number): string[] {
  const used = Object.entries(amounts).filter(([, amount]) => amount > 0);
  const services = Map.groupBy(used, ([name]) => name.slice(0, name.indexOf('.')));
  return [...services].map(([service, items]) => {
    const texts = items.map(([name, amount]) => {
      const what = name.slice(service.length + 1);
      return `${what.replaceAll('_', ' ')} ${/bytes/.test(what) ? size(amount) : grouped(amount)}`;
    });
    // Lines break between amounts, not within.
    const whole = texts.map((text) => text.replaceAll(' ', NO_BREAK)).join(', ');
    return wrap(whole, columns, `    ${(SERVICES[service] ?? service).padEnd(11)}`).replaceAll(NO_BREAK, ' ');
  });
}

/** `[#####     ] 1,234 / 4,889`, rewritten in place on a terminal. */
export function progressBar(done: number, total: number, width = 40): string {
  const filled = total === 0 ? width : Math.round((done / total) * width);
  return `[${'█'.repeat(filled)}${'░'.repeat(width - filled)}] ${grouped(done)} / ${grouped(total)}`;
}
