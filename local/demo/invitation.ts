import type { Cloud } from '../cloud.ts';
import { PROJECT, REGION } from '../resources.ts';

/** How to go on by oneself, ready to copy. */
export function invitation({ addresses, functions, tasks }: Pick<Cloud, 'addresses' | 'functions' | 'tasks'>): string {
  const { submit } = functions;
  return `Everything stays up. In another terminal, in this folder:

  Publish an event of your own (run it again with another status; "arrived" completes the key):

METADATA_SERVER_DETECTION=none PUBSUB_EMULATOR_HOST=${addresses.PUBSUB_EMULATOR_HOST} npx node --input-type=module -e '
import { PubSub } from "@google-cloud/pubsub";
const event = { event_id: crypto.randomUUID(), unique_key: "my-flight", event_status: "arrived",
  timestamp: new Date().toISOString(), join_key: "AA", payload: { hello: "world" } };
console.log(await new PubSub({ projectId: "${PROJECT}" }).topic("events").publishMessage({ json: event }));
process.exit();'
${submit === undefined || tasks === null ? '' : writes(submit.url, tasks.address)}
  Look at the tables:

npm run -s query -- "SELECT * FROM events_unique WHERE unique_key = 'my-flight'"
npm run -s query -- "SELECT unique_key, final_status, total_steps, duration_seconds FROM summaries_latest WHERE unique_key = 'my-flight'"

Ctrl-C ends all of it.
`;
}

function writes(submit: string, tasks: string): string {
  const [host, port] = tasks.split(':');
  const event = (id: string, status: string) =>
    `{"event_id": "${id}", "unique_key": "my-flight", "event_status": "${status}", "timestamp": "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'"}`;
  return `
  Write one over HTTP, and ask what is known of its key:

curl -s ${submit} -H 'content-type: application/json' -d '${event('boarded', 'boarding')}'
curl -s '${submit}?unique_key=my-flight&event_id=boarded'

  Hand one over to Cloud Tasks, to be written ten seconds from now:

METADATA_SERVER_DETECTION=none npx node --input-type=module -e '
import { CloudTasksClient } from "@google-cloud/tasks";
import { credentials } from "@grpc/grpc-js";
const client = new CloudTasksClient({ apiEndpoint: "${host}", port: ${port}, sslCreds: credentials.createInsecure() });
const event = { event_id: "parked", unique_key: "my-flight", event_status: "parked", timestamp: new Date().toISOString() };
const [task] = await client.createTask({ parent: client.queuePath("${PROJECT}", "${REGION}", "codaflow-urgent"), task: {
  scheduleTime: { seconds: Math.floor(Date.now() / 1000) + 10 }, httpRequest: { url: "${submit}",
  headers: { "content-type": "application/json" }, body: Buffer.from(JSON.stringify(event)) } } });
console.log(task.name);
process.exit();'
`;
}
