import { styleText } from 'node:util';
import { passed, type Check } from './verdict.ts';

export interface Report {
  readonly verdict: 'correct' | 'wrong';
  readonly events: { readonly messages: number; readonly repeats: number; readonly days: number };
  readonly checks: readonly Check[];
  /** Keys that the comparison leaves out. */
  readonly undecided: number;
  readonly received: { readonly messages: number; readonly repeated: number };
  readonly seconds: { readonly replay: number; readonly settle: number };
  /** Peak resident memory in bytes and number of starts, by function. */
  readonly functions: Readonly<Record<string, { readonly peakMemory: number; readonly starts: number }>>;
  readonly billed: Readonly<Record<string, number>>;
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
export const MEMORY_LIMIT = 512 * 2 ** 20;

/** The report as lines of text for a terminal. */
export function render(report: Report, colour: boolean): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  const lines: string[] = [''];
  const row = (name: string, found: string, expected: string, note: string): void => {
    lines.push(`  ${name.padEnd(34)}${found.padStart(12)}${expected.padStart(12)}  ${note}`);
  };
  lines.push(paint('bold', `  ${''.padEnd(34)}${'found'.padStart(12)}${'expected'.padStart(12)}`));
  for (const check of report.checks) {
    const good = passed(check);
    const least = check.rule === 'least' ? '≥ ' : '';
    const sign = good ? paint('green', '✓') : paint('red', '✗');
    const compared = BY_ROW.has(check.name) && good && check.expected > 0 ? paint('dim', ' each compared') : '';
    row(NAMES[check.name] ?? check.name, grouped(check.found), least + grouped(check.expected), sign + compared);
    for (const difference of check.differences) lines.push(paint('red', `      ${difference}`));
    const more = check.different - check.differences.length;
    if (more > 0) lines.push(paint('red', `      and ${grouped(more)} more`));
  }
  if (report.undecided > 0) {
    lines.push(`  ${report.undecided} keys are left out: an identity was published with different contents.`);
  }
  lines.push('', ...details(report));
  lines.push(
    '',
    report.verdict === 'correct'
      ? paint(['green', 'bold'], '  Verdict: correct')
      : paint(['red', 'bold'], '  Verdict: WRONG'),
    '',
  );
  return lines.join('\n');
}

function details(report: Report): string[] {
  const { seconds, events, received } = report;
  const rate = Math.round(events.messages / Math.max(seconds.replay + seconds.settle, 0.001));
  const memory = Object.entries(report.functions).map(
    ([name, { peakMemory, starts }]) =>
      `${name} ${Math.round(peakMemory / 2 ** 20)} MiB${starts > 1 ? ` (${starts} starts)` : ''}`,
  );
  return [
    `  ${grouped(events.repeats)} messages repeated an event; ${grouped(received.repeated)} results came more than once under the same id`,
    `  Published in ${seconds.replay.toFixed(1)} s, quiet ${seconds.settle.toFixed(1)} s later: ${grouped(rate)} events/s from end to end`,
    `  Peak memory: ${memory.join(', ')} (limit 512 MiB each)`,
    `  Would be billed: ${Object.entries(report.billed)
      .filter(([, amount]) => amount > 0)
      .map(([name, amount]) => `${name} ${grouped(amount)}`)
      .join(', ')}`
      .replace(/(.{1,150})(?:, |$)/g, (_, part: string) => `${part}\n    `)
      .trimEnd(),
  ];
}

export function grouped(number: number): string {
  return number.toLocaleString('en-US');
}

/** `[#####     ] 1,234 / 4,889`, rewritten in place on a terminal. */
export function progressBar(done: number, total: number, width = 40): string {
  const filled = total === 0 ? width : Math.round((done / total) * width);
  return `[${'█'.repeat(filled)}${'░'.repeat(width - filled)}] ${grouped(done)} / ${grouped(total)}`;
}
