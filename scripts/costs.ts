/** `npm run costs`: what a month costs, from operations that tests hold to the code, and list prices. */
import { parseArgs } from 'node:util';
import { billAtRest, billOfDataflow, billOfEvents, billOfJoin, billOfSubscription, breakEven } from './costs/bill.ts';
import { operations, type Usage } from './costs/operations.ts';
import { priceList, report } from './costs/report.ts';

const HELP = `npm run costs -- [--events N] [--size BYTES] [--per-key N] [options]
  --events N        events a month, such as 1e6; several with commas (default 1e4,1e6,1e8)
  --size BYTES      data of one event (default 1024)
  --per-key N       events of a key (default 5)
  --arrival HOW     apart (default), or together: all events of a key in one burst
  --edition NAME    of Firestore: standard (default) or enterprise
  --in-flight N     requests that an instance serves at once while events come (default 80)
  --latency MS      from a push to its answer (default 100, assumed)
  --join MINUTES    how often a join runs, 0 for none (default 0)
  --prices          the price list: dollars, unit, page, date
  --json            the same as JSON
`;

function fail(message: string): never {
  process.stderr.write(`${message}\n\n${HELP}`);
  process.exit(2);
}

function options() {
  try {
    return parseArgs({
      options: {
        events: { type: 'string', default: '1e4,1e6,1e8' },
        size: { type: 'string', default: '1024' },
        'per-key': { type: 'string', default: '5' },
        arrival: { type: 'string', default: 'apart' },
        edition: { type: 'string', default: 'standard' },
        'in-flight': { type: 'string', default: '80' },
        latency: { type: 'string', default: '100' },
        join: { type: 'string', default: '0' },
        prices: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return fail((error as Error).message);
  }
}

const values = options();

function number(
  name: 'size' | 'per-key' | 'in-flight' | 'latency' | 'join' | 'events',
  low: number,
  high: number,
  text = values[name],
): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (!(value >= low && value <= high))
    fail(`--${name} must be a number from ${low} to ${high}, not ${JSON.stringify(text)}`);
  return value;
}

function choice<const T extends string>(name: 'arrival' | 'edition', ...allowed: readonly T[]): T {
  return (
    allowed.find((one) => one === values[name]) ??
    fail(`--${name} must be ${allowed.join(' or ')}, not ${JSON.stringify(values[name])}`)
  );
}

if (values.help) {
  process.stdout.write(HELP);
} else if (values.prices) {
  process.stdout.write(`${priceList()}\n`);
} else {
  const edition = choice('edition', 'standard', 'enterprise');
  const join = number('join', 0, 1440);
  const common = {
    // Pub/Sub takes messages of up to 10 MB.
    size: number('size', 1, 10e6),
    perKey: number('per-key', 1, 1e9),
    arrival: choice('arrival', 'apart', 'together'),
    inFlight: number('in-flight', 1, 1000),
    latency: number('latency', 1, 60_000),
  };
  const usages: Usage[] = values.events
    .split(',')
    .map((text) => ({ events: number('events', 1, 1e12, text), ...common }));
  if (!values.json) process.stdout.write(`${report(usages, edition, join)}\n`);
  else {
    const months = usages.map((usage) => ({
      usage,
      operations: operations(usage),
      events: billOfEvents(usage, edition),
      join: billOfJoin(usage, join),
      rest: billAtRest(edition),
      subscription: billOfSubscription(usage),
      dataflow: billOfDataflow(usage),
    }));
    process.stdout.write(
      `${JSON.stringify({ edition, months, breakEven: breakEven(usages[0]!, edition, join) }, null, 2)}\n`,
    );
  }
}
