import {
  billAtRest,
  billOfDataflow,
  billOfEvents,
  billOfJoin,
  billOfSubscription,
  breakEven,
  total,
  type Bill,
  type Edition,
} from './bill.ts';
import type { Usage } from './operations.ts';
import { PRICES } from './prices.ts';

const money = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(2));
const count = (value: number): string =>
  value >= 1e9
    ? `${(value / 1e9).toFixed(1)} billion`
    : value >= 1e6
      ? `${(value / 1e6).toFixed(0)} million`
      : `${value}`;

/** A month, part by part, for each volume, in columns. */
export function report(usages: readonly Usage[], edition: Edition, joinMinutes: number): string {
  const bills = usages.map((usage): Bill => ({
    ...billOfEvents(usage, edition),
    ...billOfJoin(usage, joinMinutes),
    ...billAtRest(edition),
  }));
  const parts = Object.keys(bills[0]!);
  const other: Usage['arrival'] = usages[0]!.arrival === 'apart' ? 'together' : 'apart';
  const rows: string[][] = [
    ['Dollars a month', ...usages.map(({ events }) => `${count(events)} events`)],
    ...parts.map((part) => [part, ...bills.map((bill) => money(bill[part]!))]),
    ['Codaflow', ...bills.map((bill) => money(total(bill)))],
    ['  of it for the events alone', ...usages.map((usage) => money(total(billOfEvents(usage, edition))))],
    [
      `  the same when a key's events come ${other}`,
      ...usages.map((usage) => money(total(billOfEvents({ ...usage, arrival: other }, edition)))),
    ],
    ['BigQuery subscription: a raw copy, no more', ...usages.map((usage) => money(billOfSubscription(usage)))],
    ['Dataflow: the smallest streaming job', ...usages.map((usage) => money(billOfDataflow(usage)))],
  ];
  return `${columns(rows)}\n\n${advice(usages[0]!, edition, joinMinutes)}`;
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  return rows
    .map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[at]!))).join('  '))
    .join('\n');
}

function advice(usage: Usage, edition: Edition, joinMinutes: number): string {
  const events = breakEven(usage, edition, joinMinutes);
  const even =
    events === null
      ? 'The streaming job is never cheaper.'
      : `From ${count(events)} events a month (${(events / (30 * 86_400)).toFixed(0)} a second, day and night) the streaming job is cheaper.`;
  return `${even}
Do not use Codaflow above that, nor where a raw copy is enough: a BigQuery subscription costs a few cents for a million.`;
}

/** Every price with its page and when it was read. */
export function priceList(): string {
  return Object.values(PRICES)
    .map(({ dollars, per, unit, page, read }) => `${dollars} for ${per.toLocaleString('en')} ${unit}: ${page}, ${read}`)
    .join('\n');
}
