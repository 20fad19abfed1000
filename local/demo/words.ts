/** How numbers and lines are printed, one way everywhere. */

/** `4,889`. */
export function grouped(number: number): string {
  return number.toLocaleString('en-US');
}

/** `1 message`, `4,889 messages`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

/** `812 bytes`, `1.6 MB`; decimal units, as Google bills. */
export function size(bytes: number): string {
  const step = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  return `${step === 0 ? grouped(bytes) : (bytes / 1000 ** step).toFixed(1)} ${UNITS[step]}`;
}

/** Columns of a stream: the variable COLUMNS, else the terminal's; null where there is no limit. */
export function columns(stream: { readonly isTTY?: boolean; readonly columns?: number }): number | null {
  const wanted = Number(process.env['COLUMNS']);
  if (Number.isInteger(wanted) && wanted > 0) return wanted;
  return stream.isTTY === true ? (stream.columns ?? 80) : null;
}

/**
 * Text in lines of at most `width` columns, broken at spaces, within a word only where one is too long. The first line
 * begins with `first`, the others with as many spaces.
 */
export function wrap(text: string, width: number | null, first = ''): string {
  const room = width === null ? Infinity : Math.max(width - first.length, 10);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    let rest = line === '' ? word : `${line} ${word}`;
    if (rest.length > room && line !== '') {
      lines.push(line);
      rest = word;
    }
    for (; rest.length > room; rest = rest.slice(room)) lines.push(rest.slice(0, room));
    line = rest;
  }
  lines.push(line);
  return lines.map((part, index) => (index === 0 ? first : ' '.repeat(first.length)) + part).join('\n');
}
