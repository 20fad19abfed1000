/**
 * Every way in which the ports in memory, the local cloud and Google's services are known to differ. A property of the
 * contract that meets a difference says what it saw, and what it saw has to stand here; an entry that no property
 * meets, or in which nothing differs, fails the suite.
 */
export interface Capability {
  readonly about: string;
  /** What is seen on the ports of test/fakes, and on the adapters of functions/gcp with the servers of local/. */
  readonly fake: string;
  readonly local: string;
  /** What Google documents. */
  readonly google: string;
}

export const SIDES = ['fake', 'local'] as const;
export type Side = (typeof SIDES)[number];

const KINDS = {
  fake: 'TransientError, no effect',
  local: 'AmbiguousError, no effect',
  google: 'as local: the client cannot tell a request that never arrived from an answer that was lost',
};

export const CAPABILITIES = {
  'store: commit that never arrived': { about: 'a commit that fails with UNAVAILABLE before its effect', ...KINDS },
  'store: conflict': {
    about: 'two transactions read a document, both change it',
    fake: 'the first commit wins, the other one is told contention',
    local: 'the first commit wins, the other one is told contention',
    google:
      'pessimistic by our setting: the second waits for the lock, at most 20 s, then ABORTED (contention); the deadline of a call (PORT_DEADLINE) may come first',
  },
  'bus: request that never arrived': { about: 'a publish that fails with UNAVAILABLE before its effect', ...KINDS },
  'bus: answer lost once': {
    about: 'copies of a message whose first answer is lost',
    fake: '1, AmbiguousError',
    local: '2, published',
    google: 'as local: the client repeats the request within its deadline, and each one counts',
  },
  'events: request that never arrived': { about: 'an append that fails with UNAVAILABLE before its effect', ...KINDS },
  'events: answer lost once': {
    about: 'copies of a row whose first answer is lost',
    fake: '1, AmbiguousError',
    local: '2, ok',
    google: 'as local: the adapter appends once more over a new connection',
  },
  'tasks: creation that never arrived': { about: 'a creation that fails with UNAVAILABLE before its effect', ...KINDS },
  'tasks: name after the task is gone': {
    about: 'when the name of a task that is gone becomes free',
    fake: 'after 1 h',
    local: 'after 1 h',
    google: 'documents disagree: about 1 h, or up to 24 h',
  },
  'warehouse: request that never arrived once': {
    about: 'starting a job when the first request fails with UNAVAILABLE before its effect',
    fake: 'TransientError, no job',
    local: 'started, a job',
    google: 'as local: the client repeats the request',
  },
  'warehouse: answer lost': {
    about: 'starting a job whose answer is lost',
    fake: 'AmbiguousError',
    local: 'exists',
    google: 'as local: the client repeats the request and is told that the id is taken',
  },
  'warehouse: statement that cannot run': {
    about: 'a window in the future, or from before time travel',
    fake: 'fails when it runs',
    local: 'refused at start',
    google: 'not said; either way the job has failed and its id is used up, which is what the join relies on',
  },
  'warehouse: statement that is none': {
    about: 'starting and estimating a statement that is no GoogleSQL',
    fake: 'started, 0',
    local: 'statement_refused, statement_refused',
    google: 'as local; the ports in memory know the statements of the join by their label and parse none',
  },
  'warehouse: bound of billed bytes': {
    about: 'a job that would bill more than it may',
    fake: 'done',
    local: 'bytesBilledLimitExceeded, false',
    google: 'as local; the ports in memory bill nothing',
  },
  'warehouse: table that is not there': {
    about: 'when a table was created that is not there',
    fake: 'found',
    local: 'TransientError',
    google: 'as local: it may be deployed any moment',
  },
} as const satisfies Readonly<Record<string, Capability>>;

export type CapabilityId = keyof typeof CAPABILITIES;
