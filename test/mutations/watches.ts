import type { Mutation } from './mutation.ts';

const WATCH = 'functions/core/watch/watch.ts';
const WATCHER = 'functions/poll/watcher.ts';
const WATCHES = 'test/simulation/watches.test.ts';
const SUBMIT = 'test/simulation/submit.test.ts';

/** The guards of watched items and of requests. */
// prettier-ignore
export const WATCH_MUTATIONS: readonly Mutation[] = [
  { name: 'only the next attempt is taken in', guarantee: 'watched', file: WATCH,
    search: ' || state.attempt !== attempt) return null;', replace: ') return null;',
    proof: { file: WATCHES, test: 'a look that is answered when later attempts were made changes nothing' } },
  { name: 'the outcome is decided once: a look', guarantee: 'watched', file: WATCH,
    search: 'if (state.outcome !== null || state.attempt', replace: 'if (state.attempt',
    proof: { file: WATCHES, test: 'a cancellation that races readiness: one outcome, whichever was first' } },
  { name: 'the outcome is decided once: a cancellation', guarantee: 'watched', file: WATCH,
    search: '  if (state.outcome !== null) return null;\n  return decide', replace: '  return decide',
    proof: { file: WATCHES, test: 'a cancellation that comes after the outcome changes nothing' } },
  { name: 'only a look at the timeout times out', guarantee: 'watched', file: WATCH,
    search: 'Math.max(looked, state.due) >= end', replace: 'now >= end',
    proof: { file: WATCHES, test: 'what is ready at the timeout is ready, even where a look from before it is answered after it' } },
  { name: 'one event id for every outcome', guarantee: 'watched', file: WATCH,
    search: "outcomeEventId({ spec, created }: WatchState): string {\n  return digest('watch', spec.watchId, created)",
    replace: "outcomeEventId({ spec, created, outcome }: WatchState): string {\n  return digest('watch', spec.watchId, created, outcome?.kind ?? null)",
    proof: { file: WATCHES, test: 'the event id that a watch names from the beginning is that of its event, whatever the outcome' } },
  { name: 'every attempt leaves a wake-up', guarantee: 'watched', file: WATCH,
    search: 'wakeAt: due + rules.slack,', replace: 'wakeAt: null,',
    proof: { file: WATCHES, test: 'a lost task is found by sweep, and the chain goes on' } },
  { name: 'sweep creates the lost task again', guarantee: 'watched', file: 'functions/keys/sweep-watches.ts',
    search: 'await tasks.create(lookTask(state, clock.now(), state.attempts + 1));', replace: '',
    proof: { file: WATCHES, test: 'a lost task is found by sweep, and the chain goes on' } },
  { name: 'sweep gives the lost task another name', guarantee: 'watched', file: 'functions/keys/sweep-watches.ts',
    search: 'state.attempts + 1)', replace: '0)',
    proof: { file: WATCHES, test: 'a lost task is found by sweep, and the chain goes on' } },
  { name: 'the outcome is published before it is confirmed', guarantee: 'watched', file: WATCHER,
    search: 'if (published instanceof Error) throw published;', replace: '',
    proof: { file: WATCHES, test: 'an event whose publication was refused is published before the watch is done' } },
  { name: 'a task is created after the state says so', guarantee: 'watched', file: WATCHER,
    search: 'const found = await look(state.spec.probe);',
    replace: 'await arm({ ...state, attempt: state.attempt + 1, due: clock.now() + state.spec.interval });\n      const found = await look(state.spec.probe);',
    proof: { file: WATCHES, test: 'no task asks for an attempt that the state does not know, even where its commit never happens' } },
  { name: 'the repeat of a task arms what the first one left', guarantee: 'watched', file: WATCHER,
    search: 'if (state.attempt === task.attempt + 1) await arm(state);', replace: '',
    proof: { file: WATCHES, test: 'an instance that dies before it arms the next attempt: the repeat of its task does' } },
  { name: 'a task acts only on its generation', guarantee: 'watched', file: WATCHER,
    search: 'if (state === null || state.created !== task.generation) return', replace: 'if (state === null) return',
    proof: { file: WATCHES, test: 'a task of a watch that was forgotten does nothing to the next one of its id' } },
  { name: 'each event has an outcome of its own', guarantee: 'submitted', file: 'functions/submit.ts',
    search: 'outcomes[index]!', replace: 'outcomes[0]!',
    proof: { file: SUBMIT, test: 'a batch with one bad event and a lost answer: each event is answered for itself, and nothing counts twice' } },
  { name: 'done only once every fate is decided', guarantee: 'submitted', file: 'functions/submit/outcomes.ts',
    search: 'results.every((', replace: 'results.some((',
    proof: { file: SUBMIT, test: 'while the fate of one event is open the request is not done, and the others are told theirs' } },
  { name: 'a task never fails for good without a dead letter', guarantee: 'submitted', file: 'functions/submit.ts',
    search: 'deliveryAttempt: task?.attempt ?? null', replace: 'deliveryAttempt: null',
    proof: { file: SUBMIT, test: 'a task that fails to its last attempt is a dead letter with its cause' } },
];
