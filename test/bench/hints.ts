import { CloudProcess } from './cloud-process.ts';
import { wrap, type EventSource } from './events.ts';
import { load } from './load.ts';
import { ROOT, Subject } from './subject.ts';

const RUN = 'finish';

/** Ingests flights until `count` keys are complete, and gives the hints for their summaries as push requests. */
export async function wakeUp(
  cloud: CloudProcess,
  source: EventSource,
  settings: Readonly<Record<string, string>>,
  count: number,
): Promise<(n: number) => string> {
  let events = count;
  while (source.finished(events, RUN).length < count) events += count;
  const ingest = await Subject.start({ target: 'ingest', source: ROOT, env: { ...cloud.env, ...settings } });
  try {
    await load({ url: ingest.url, inFlight: 200, count: events, body: (n) => source.push(n, RUN) });
  } finally {
    await ingest.stop();
  }
  const keys = source.finished(events, RUN);
  return (n) => wrap(Buffer.from(JSON.stringify({ unique_key: keys[n] })), `${RUN}-${n}`);
}
