/**
 * What the demo sets differently from the cloud, so that a run ends in seconds: waits that exist for the sake of late
 * events and of large clusters. Said in the output.
 */
export const DEMO_SETTINGS: Readonly<Record<string, string>> = {
  GRACE: '3s',
  SETTLE: '1s',
  SETTLE_MAX: '5s',
  CLAIM: '5s',
  JOIN_LAG: '1s',
  JOIN_WAIT: '0s',
  JOIN_LEASE: '10s',
};

/**
 * Settings that a run may have otherwise: what events are called and what is made of them, and where probes may go. Not
 * the waits: the verdict and the moment when all is quiet lean on them.
 */
export const TRIED = ['EVENT_FIELDS', 'SUMMARY_FIELDS', 'PROBE_HOSTS', 'PROBE_PRIVATE'];

export const isTried = (name: string): boolean => TRIED.includes(name);

/** Seconds between two runs; 120 and 60 in the cloud. */
export const DEMO_SCHEDULE = { join: 2, sweep: 5 };

export const DEMO_NOTE = `Waits are shortened for this demo: ${Object.entries(DEMO_SETTINGS)
  .map(([name, value]) => `${name}=${value}`)
  .join(
    ' ',
  )}; join runs every ${DEMO_SCHEDULE.join} s and sweep every ${DEMO_SCHEDULE.sweep} s, redelivery backs off from 0.2 s to 5 s.`;
