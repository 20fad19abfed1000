import type { Cloud } from '../cloud.ts';
import { PROJECT, REGION } from '../resources.ts';
import { SAME, type Names } from './fields.ts';
import type { Inputs } from './inputs.ts';

/** How to go on by oneself, ready to copy. */
export function invitation(
  { addresses, functions, tasks }: Pick<Cloud, 'addresses' | 'functions' | 'tasks'>,
  {
    completion,
    reference,
    names = SAME,
    hosts,
  }: Pick<Inputs, 'completion' | 'reference'> &
    Partial<Pick<Inputs, 'names'>> & {
      /** PROBE_HOSTS. */
      readonly hosts?: string | undefined;
    },
): string {
  const { submit, poll } = functions;
  const status = completion[0]!;
  const all = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(completion.map((one) => `"${one}"`));
  const name = nameIn(names);
  const joinKey = reference[0]?.join_key;
  const join = joinKey === undefined ? '' : ` ${name('join_key')}: ${quoted(joinKey)},`;
  return `Everything stays up. In another terminal, in this folder:

  Publish an event of your own (${all} completes the key; with another status it stays open):

METADATA_SERVER_DETECTION=none PUBSUB_EMULATOR_HOST=${addresses.PUBSUB_EMULATOR_HOST} npx node --input-type=module -e '
import { PubSub } from "@google-cloud/pubsub";
const event = { ${name('event_id')}: crypto.randomUUID(), ${name('unique_key')}: "my-key", ${name('event_status')}: ${quoted(status)},
  ${name('timestamp')}: new Date().toISOString(),${join} ${name('payload')}: { hello: "world" } };
console.log(await new PubSub({ projectId: "${PROJECT}" }).topic("events").publishMessage({ json: event }));
process.exit();'
${submit === undefined || tasks === null ? '' : writes(submit.url, tasks.address, names)}${poll === undefined ? '' : watch(poll.url, status, hosts?.split(',')[0])}
  Look at the tables:

npm run -s query -- "SELECT * FROM events_unique WHERE unique_key = 'my-key'"
npm run -s query -- "SELECT unique_key, state, final_status, total_steps, duration_seconds FROM summaries_latest WHERE unique_key = 'my-key'"

Every summary and dead letter of yours shows here. Ctrl-C ends all of it.
`;
}

/** The name of a member in the source of an object: quoted where it must be. */
const nameIn =
  (names: Names): Names =>
  (member) =>
    /^[A-Za-z_]\w*$/.test(names(member)) ? names(member) : quoted(names(member));

/** A JavaScript text inside a shell's single quotes. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("'", "'\\''");
}

function watch(poll: string, status: string, host = ''): string {
  if (host === '') {
    return `
  To watch a server of yours, start with --set PROBE_HOSTS=HOST:PORT (and --set PROBE_PRIVATE=true for this machine);
  watches go to ${poll}, see docs/polling.md.
`;
  }
  const place = host.replace(/^\*\./, '').replaceAll("'", '');
  const body = `{"watch_id": "w-1", "unique_key": "my-key", "interval": "5s", "statuses": {"ready": ${quoted(status)}}, "probe": {"type": "http", "url": "http://${place}/"}}`;
  return `
  Wait for something elsewhere (this URL to answer 2xx), told as an event of its key, and ask how far it is:

curl -s ${poll} -d '${body}'
curl -s '${poll}?watch_id=w-1'
`;
}

function writes(submit: string, tasks: string, names: Names): string {
  const [host, port] = tasks.split(':');
  const name = nameIn(names);
  const json: Names = (member) => quoted(names(member));
  const event = (id: string, status: string) =>
    `{${json('event_id')}: "${id}", ${json('unique_key')}: "my-key", ${json('event_status')}: "${status}", ${json('timestamp')}: "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'"}`;
  return `
  Write one over HTTP, and ask what is known of its key:

curl -s ${submit} -H 'content-type: application/json' -d '${event('begun', 'begun')}'
curl -s '${submit}?unique_key=my-key&event_id=begun'

  Hand one over to Cloud Tasks, to be written ten seconds from now:

METADATA_SERVER_DETECTION=none npx node --input-type=module -e '
import { CloudTasksClient } from "@google-cloud/tasks";
import { credentials } from "@grpc/grpc-js";
const client = new CloudTasksClient({ apiEndpoint: "${host}", port: ${port}, sslCreds: credentials.createInsecure() });
const event = { ${name('event_id')}: "checked", ${name('unique_key')}: "my-key", ${name('event_status')}: "checked", ${name('timestamp')}: new Date().toISOString() };
const [task] = await client.createTask({ parent: client.queuePath("${PROJECT}", "${REGION}", "codaflow-urgent"), task: {
  scheduleTime: { seconds: Math.floor(Date.now() / 1000) + 10 }, httpRequest: { url: "${submit}",
  headers: { "content-type": "application/json" }, body: Buffer.from(JSON.stringify(event)) } } });
console.log(task.name);
process.exit();'
`;
}
