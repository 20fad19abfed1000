import { http } from '@google-cloud/functions-framework';
import { createHash } from 'node:crypto';
import { readMessage } from './message.ts';

interface Tracker {
  record(events: readonly object[]): Promise<void>;
}
interface Peer {
  readonly FirestoreBigQueryEventHistoryTracker: new (config: object) => Tracker;
  readonly ChangeType: { readonly CREATE: number };
}

// Installed beside the benchmark only, hence unknown to the compiler.
const name = '@firebaseextensions/firestore-bigquery-change-tracker';
const { FirestoreBigQueryEventHistoryTracker, ChangeType } = (await import(name)) as Peer;
const tracker = new FirestoreBigQueryEventHistoryTracker({
  datasetId: process.env['DATASET'],
  tableId: 'peer',
  bqProjectId: process.env['PROJECT_ID'],
  datasetLocation: process.env['LOCATION'],
  clustering: null,
  skipInit: false,
});

/** The change log of Firestore's extension: one row of BigQuery for each event. */
http('peer', async (request, response) => {
  const { event, messageId } = readMessage(request.body);
  const documentId = createHash('sha256').update(event.unique_key).digest('hex');
  await tracker.record([
    {
      timestamp: event.timestamp,
      operation: ChangeType.CREATE,
      documentName: `projects/p/databases/(default)/documents/flights/${documentId}`,
      documentId,
      eventId: messageId,
      data: event,
      oldData: null,
    },
  ]);
  response.status(204).end();
});
