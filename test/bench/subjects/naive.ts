import { BigQuery } from '@google-cloud/bigquery';
import { Firestore } from '@google-cloud/firestore';
import { http } from '@google-cloud/functions-framework';
import { createHash } from 'node:crypto';
import { readMessage } from './message.ts';

const projectId = process.env['PROJECT_ID']!;
const table = new BigQuery({ projectId }).dataset(process.env['DATASET']!).table('events');
const firestore = new Firestore({ projectId });

/** What tutorials do: for each message one row inserted and one transaction. */
http('naive', async (request, response) => {
  const { event, messageId } = readMessage(request.body);
  await table.insert({
    event_id: event.event_id,
    unique_key: event.unique_key,
    event_status: event.event_status,
    event_time: event.timestamp,
    join_key: event.join_key,
    payload: JSON.stringify(event.payload),
    message_id: messageId,
    ingest_time: new Date().toISOString(),
  });
  const id = createHash('sha256').update(event.unique_key).digest('hex');
  const document = firestore.collection('naive').doc(id);
  await firestore.runTransaction(async (tx) => {
    const events = ((await tx.get(document)).data()?.['events'] ?? []) as object[];
    const { event_id, event_status, timestamp } = event;
    tx.set(document, { unique_key: event.unique_key, events: [...events, { event_id, event_status, timestamp }] });
  });
  response.status(204).end();
});
