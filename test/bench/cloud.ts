/** The local cloud as a process of its own, so that its work counts for nobody. */
import { startBigQuery } from '../../local/bigquery/server.ts';
import { connect, type Addresses } from '../../local/clients.ts';
import { startFirestore } from '../../local/firestore/server.ts';
import { createTables } from '../../local/provision.ts';
import { startPubSub } from '../../local/pubsub/server.ts';
import * as resources from '../../local/resources.ts';
import { Faults } from '../../local/shared/faults.ts';
import { Meter } from '../../local/shared/meter.ts';

const meter = new Meter();
/** Added to every call that stores something: milliseconds. */
let slow = 0;
const faults = new Faults(({ service, method }) => {
  meter.add(`rpc.${service}.${method}`);
  return slow > 0 && service !== 'pubsub' ? { kind: 'delay', ms: slow } : undefined;
});
/** BigQuery's clock is that of the machine and so much later: microseconds. */
let later = 0;
const clock = () => Date.now() * 1000 + later;
const common = { meter, faults };
const bigquery = await startBigQuery({ ...common, clock, project: resources.PROJECT, location: resources.LOCATION });
const firestore = await startFirestore(common);
const pubsub = await startPubSub({ ...common, bigQueryWriter: (table, rows) => bigquery.insertRows(table, rows) });
const addresses: Addresses = {
  PUBSUB_EMULATOR_HOST: pubsub.address,
  FIRESTORE_EMULATOR_HOST: firestore.address,
  BIGQUERY_EMULATOR_HOST: `http://${bigquery.address}`,
  BIGQUERY_STORAGE_EMULATOR_HOST: bigquery.grpcAddress,
};
const clients = connect(addresses);
await createTables(clients.bigquery);
// Nobody subscribes: what the functions publish is taken and counted, no more.
for (const topic of resources.TOPICS) await clients.pubsub.createTopic(topic);

process.on('message', ({ slowMs, advance }: { readonly slowMs?: number; readonly advance?: number }) => {
  slow = slowMs ?? slow;
  later += (advance ?? 0) * 1e6;
  process.send?.(meter.snapshot());
});
process.on('disconnect', () => process.exit(0));
process.send?.(addresses);
