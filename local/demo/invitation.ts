import type { Addresses } from '../clients.ts';
import { PROJECT } from '../resources.ts';

/** How to go on by oneself, ready to copy. */
export function invitation(addresses: Addresses): string {
  return `Everything stays up. In another terminal, in this folder:

  Publish an event of your own (run it again with another status; "arrived" completes the key):

METADATA_SERVER_DETECTION=none PUBSUB_EMULATOR_HOST=${addresses.PUBSUB_EMULATOR_HOST} npx node --input-type=module -e '
import { PubSub } from "@google-cloud/pubsub";
const event = { event_id: crypto.randomUUID(), unique_key: "my-flight", event_status: "arrived",
  timestamp: new Date().toISOString(), join_key: "AA", payload: { hello: "world" } };
console.log(await new PubSub({ projectId: "${PROJECT}" }).topic("events").publishMessage({ json: event }));
process.exit();'

  Look at the tables:

npm run -s query -- "SELECT * FROM events_unique WHERE unique_key = 'my-flight'"
npm run -s query -- "SELECT unique_key, final_status, total_steps, duration_seconds FROM summaries_latest WHERE unique_key = 'my-flight'"

Ctrl-C ends all of it.
`;
}
