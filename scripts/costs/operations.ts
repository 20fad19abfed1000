/** What a month asks for. */
export interface Usage {
  /** Events a month. */
  readonly events: number;
  /** Bytes of an event's data. */
  readonly size: number;
  readonly perKey: number;
  /** Whether a key's events come apart, or all together in one burst. */
  readonly arrival: 'apart' | 'together';
  /** Requests that an instance serves at once while events come. */
  readonly inFlight: number;
  /** Milliseconds from a push to its answer. Assumed: the services' own times were not measured on Google Cloud. */
  readonly latency: number;
}

/** Billable operations of the functions. The tests hold them to what ports in memory count. */
export interface Operations {
  readonly keys: number;
  readonly reads: number;
  readonly writes: number;
  readonly deletes: number;
  /**
   * Units of Firestore Enterprise: 4 KiB read, 1 KiB written or deleted, an index entry put or taken away (a move is
   * both), as in https://firebase.google.com/docs/firestore/enterprise/pricing-examples
   */
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly deleteUnits: number;
  readonly indexUnits: number;
  readonly appends: number;
}

/** Ids kept in the key's own document, and steps kept (the defaults of IDS_INLINE and STEPS_KEPT). */
const INLINE = 1000;
const STEPS = 200;
/** Bytes of a key's document without events, and what each event adds: its packed identity, and its step. */
const EMPTY_KEY = 400;
const IDENTITY = 20;
const STEP = 50;
/** Bytes of a claim without its row's steps. */
const CLAIM = 60;
/** Summaries read and write a key's document to claim it, and again to confirm it. */
const CLAIM_AND_CONFIRM = 2;
/** The entry in the index of wake-ups: put with the first event, taken away when the summary is confirmed. */
const WAKE_UP = 2;
/** It moves when the completion comes in a later commit. The claim leaves it where it is. */
const MOVE = 2;
/** A group forms while the one before runs, so half of what is in flight is in each. */
const GROUPS = 2;

export function stateBytes(events: number): number {
  return EMPTY_KEY + IDENTITY * Math.min(events, INLINE) + STEP * Math.min(events, STEPS);
}

export function operations({ events, perKey, arrival, inFlight }: Usage): Operations {
  const keys = events / perKey;
  const group = Math.max(1, inFlight / GROUPS);
  // What comes together shares a write, as far as a group reaches.
  const commits = arrival === 'apart' ? perKey : Math.max(1, Math.ceil(perKey / group));
  const past = Math.max(0, perKey - INLINE);
  let readUnits = 0;
  let writeUnits = 0;
  // Past some point documents no longer grow, so a sample of the commits is exact enough.
  const samples = Math.min(commits, 2000);
  for (let n = 1; n <= samples; n++) {
    const after = (perKey * n) / samples;
    const before = (perKey * (n - 1)) / samples;
    writeUnits += (Math.ceil(stateBytes(after) / 1024) * commits) / samples;
    readUnits += (Math.ceil(stateBytes(before) / 4096) * commits) / samples;
  }
  const size = stateBytes(perKey);
  // The claim holds the row, steps included, until it is confirmed.
  const claimed = size + CLAIM + STEP * Math.min(perKey, STEPS);
  writeUnits += Math.ceil(claimed / 1024) + Math.ceil(size / 1024) + past;
  readUnits += Math.ceil(size / 4096) + Math.ceil(claimed / 4096) + past;
  return {
    keys,
    reads: keys * (commits + past + CLAIM_AND_CONFIRM),
    writes: keys * (commits + past + CLAIM_AND_CONFIRM),
    deletes: keys * (1 + past),
    readUnits: keys * readUnits,
    writeUnits: keys * writeUnits,
    deleteUnits: keys * (Math.ceil(size / 1024) + past),
    indexUnits: keys * (commits > 1 ? WAKE_UP + MOVE : WAKE_UP),
    appends: events / group,
  };
}
