import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConfigError, describeConfig, loadConfig } from './config.ts';
import { SETTINGS, type Setting } from './settings.ts';

const BASE = { PROJECT_ID: 'local-project' };

function problems(env: Record<string, string>): readonly string[] {
  try {
    loadConfig({ ...BASE, ...env });
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems;
  }
}

describe('configuration', () => {
  test('the defaults are valid, and each is what its own parser makes of its text', () => {
    const config = loadConfig(BASE);
    for (const [name, setting] of Object.entries(SETTINGS) as [string, Setting<unknown>][]) {
      if (setting.fallback === undefined) continue;
      assert.deepEqual(config[name as keyof typeof config], setting.parse(setting.fallback), setting.env);
      assert.notEqual(setting.about, '');
    }
    const names = Object.values(SETTINGS).map(({ env }) => env);
    assert.equal(new Set(names).size, names.length);
  });

  test('durations, sizes and lists', () => {
    const config = loadConfig({
      ...BASE,
      GRACE: '500ms',
      SETTLE: '0s',
      GROUP_BYTES: '1024',
      MAX_BYTES_BILLED: '1TB',
      COMPLETION_STATUSES: 'done, closed',
    });
    assert.deepEqual(
      [config.grace, config.settle, config.groupBytes, config.maxBytesBilled, config.completionStatuses],
      [500_000, 0, 1024, 1e12, ['done', 'closed']],
    );
    assert.deepEqual([config.age, config.silence, config.portDeadline], [30 * 86_400e6, 86_400e6, 10e6]);
  });

  test('all problems at once, each with the value that was found', () => {
    const found = problems({ GRACE: 'soon', GROUP_KEYS: '0', COMPLETION_STATUSES: '', EVENTS_PARTITIONING: 'hour' });
    assert.equal(found.length, 4);
    assert.ok(found.some((line) => line.startsWith('GRACE: expected a duration') && line.includes('"soon"')));
    assert.throws(() => loadConfig({}), /PROJECT_ID is not set/);
  });

  test('refuses what is almost right', () => {
    const wrong = { GRACE: '-1s', SETTLE: '1.5s', AGE_DEADLINE: '30', GROUP_EVENTS: '1e3', GROUP_BYTES: '8mb', EVENTS_TOPIC: '1st', EVENT_FIELDS: 'key=a', DATASET: 'a-b', PUBSUB_EMULATOR_HOST: 'localhost' }; // prettier-ignore
    assert.deepEqual(
      problems(wrong).map((line) => line.split(':')[0]!),
      Object.keys(SETTINGS)
        .map((name) => SETTINGS[name as keyof typeof SETTINGS].env)
        .filter((env) => env in wrong),
    );
  });

  test('refuses what would mean nothing, or another thing', () => {
    for (const [name, texts] of Object.entries({
      SUMMARY_FIELDS: ['/a,/b,/a'],
      EVENT_FIELDS: ['unique_key=a,unique_key=b', 'unique_key=a=b'],
      PROBE_HOSTS: ['https://example.com', 'example.com/', '*', '*.', 'a.*.example.com', 'a,,b', 'example.com:', 'ex ample.com'], // prettier-ignore
      GRACE: ['36501d', '999999999d'],
    })) {
      for (const text of texts) assert.equal(problems({ [name]: text }).length, 1, `${name}=${text}`);
    }
    const allowed = ['api.example.com', '*.example.org:8443', '127.0.0.1:80', '[::1]:8080', 'localhost', 'a_b-c.de'];
    assert.deepEqual(loadConfig({ ...BASE, PROBE_HOSTS: allowed.join(', ') }).probeHosts, allowed);
    assert.deepEqual(problems({ GRACE: '36500d', CLAIM: '0s', JOIN_LEASE: '0s', STATE_RETENTION: '0s' }), [
      'CLAIM, JOIN_LEASE, STATE_RETENTION must be longer than 0s',
    ]);
  });

  test('the names of the members', () => {
    const { eventFields } = loadConfig({ ...BASE, EVENT_FIELDS: 'unique_key=user_id, event_status=action' });
    assert.deepEqual(
      [eventFields.unique_key, eventFields.event_status, eventFields.payload],
      ['user_id', 'action', 'payload'],
    );
    assert.equal(problems({ EVENT_FIELDS: 'unique_key=payload' }).length, 1);
  });

  test('settings that do not fit each other', () => {
    for (const env of [
      { JOIN_WAIT: '20m' },
      { TIME_TRAVEL: '2h' },
      { SETTLE: '11m' },
      { REQUEST_BUDGET: '56s' },
      { REQUEST_BUDGET: '30s' },
      { PORT_DEADLINE: '12s' },
      { GROUP_BUDGET: '21s' },
      { GROUP_BUDGET: '44s' },
      { JOIN_STEP: '0s' },
      { STEPS_BYTES: '512KiB' },
      { EVENTS_PARTITIONING: 'HOUR' },
      { EVENTS_PARTITIONING: 'HOUR', EVENTS_PARTITION_EXPIRATION: '401d' },
    ]) {
      assert.equal(problems(env).length, 1, JSON.stringify(env));
    }
    assert.deepEqual(problems({ EVENTS_PARTITIONING: 'HOUR', EVENTS_PARTITION_EXPIRATION: '30d' }), []);
    const fields = Array.from({ length: 20 }, (_, i) => `/f${i}`).join(',');
    assert.deepEqual(problems({ STEPS_BYTES: '256KiB', IDS_INLINE: '5000', SUMMARY_FIELDS: fields }), []);
  });

  test('the line at start shows what differs from the defaults', () => {
    assert.deepEqual(describeConfig({ ...BASE, GRACE: '60s', SETTLE: '10s', PATH: '/bin' }), {
      PROJECT_ID: 'local-project',
      SETTLE: '10s',
    });
  });
});
