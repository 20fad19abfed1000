import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { decode } from '../../functions/core/decode/decode.ts';
import { MEMBERS, type Member } from '../../functions/settings.ts';
import { withoutTerraform, Workspace } from './terraform.ts';

/** The bridge to Kafka: what the connector makes of a record is an event, and the page says what is deployed. */

const NAMES = Object.fromEntries(MEMBERS.map((member) => [member, member])) as Record<Member, string>;
const RANGE = { from: 0, to: 4e15 };

/** A message as the sink connector publishes it: the key, the headers and the coordinates as attributes. */
function sunk(value: object, headers: Readonly<Record<string, string>>) {
  return {
    data: Buffer.from(JSON.stringify(value)),
    attributes: {
      key: 'order-17',
      'kafka.topic': 'events',
      'kafka.partition': '3',
      'kafka.offset': '1041',
      'kafka.timestamp': '1704448800000',
      ...headers,
    },
    messageId: '9001',
  };
}

const VALUE = { unique_key: 'order-17', event_status: 'paid', timestamp: '2024-01-05T10:00:00.184708Z' };

test('a header is the identity of the event, so that what the connector repeats counts once', () => {
  const first = decode(sunk(VALUE, { event_id: 'e-1' }), NAMES, RANGE);
  const again = decode({ ...sunk(VALUE, { event_id: 'e-1' }), messageId: '9002' }, NAMES, RANGE);
  assert.equal(first.eventId, 'e-1');
  assert.equal(again.eventId, 'e-1');
});

test('the value has the last word about identity, and alone decides about key and time', () => {
  const event = decode(sunk({ ...VALUE, event_id: 'in-value' }, { event_id: 'in-header' }), NAMES, RANGE);
  assert.equal(event.eventId, 'in-value');
  assert.equal(event.uniqueKey, 'order-17');
  assert.equal(event.eventTime, Date.UTC(2024, 0, 5, 10) * 1000 + 184_708);
});

test('without one the message id is the identity: a repeat of the connector counts twice', () => {
  assert.equal(decode(sunk(VALUE, {}), NAMES, RANGE).eventId, '9001');
});

test('docs/kafka.md has the settings that are deployed', { skip: withoutTerraform }, async (t) => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/kafka.md'), 'utf8');
  const described = (name: string): unknown =>
    JSON.parse(
      new RegExp(`\`\`\`json ${name}\n([\\s\\S]*?)\`\`\``).exec(page)![1]!.replaceAll('PROJECT', 'demo-project'),
    );
  const workspace = await new Workspace('terraform/kafka').open();
  t.after(() => workspace.close());
  const plan = await workspace.plan({ subnet: 'projects/demo-project/regions/europe-west1/subnetworks/default' });
  const connectors = plan.of('google_managed_kafka_connector');
  const configs = (name: string, key: string) =>
    connectors.find((r) => r.name === name && r.key === key)?.after['configs'];
  assert.deepEqual(configs('sink', ''), described('kafka-sink'));
  assert.deepEqual(configs('source', 'results'), described('kafka-source'));
});
