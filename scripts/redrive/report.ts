import type { Plan, Skipped } from './run.ts';

/** List prices, as in docs/costs.md: Pub/Sub publish and push, BigQuery on demand, and what an event costs in all. */
const PUBSUB_PER_BYTE = (2 * 40) / 2 ** 40;
const QUERY_PER_BYTE = 6.25 / 2 ** 40;
const EVENT = 2.2e-6;

const WHY: Readonly<Record<Skipped, string>> = {
  done: 'redriven before from this machine (--again takes them too)',
  joined: 'rows of a join that are too large for a message: they are in the table joined',
  limit: 'redriven too often already (--limit)',
  unknown_origin: 'their subscription or topic is gone',
};

export function describePlan(plan: Plan, bytesBilled: number): string {
  const lines = [
    `${plan.messages} dead letters to publish again`,
    ...[...plan.groups].map(([group, count]) => `  ${count}  ${group}`),
    ...[...plan.skipped].map(([why, count]) => `  ${count}  left alone: ${WHY[why]}`),
    `Reading cost ${dollars(bytesBilled * QUERY_PER_BYTE)}; publishing and storing them costs ${dollars(
      plan.bytes * PUBSUB_PER_BYTE + plan.messages * EVENT,
    )}`,
  ];
  return `${lines.join('\n')}\n`;
}

function dollars(value: number): string {
  return value < 0.01 ? 'less than $0.01' : `about $${value.toFixed(2)}`;
}
