import type { Micros } from '../event.ts';
import { parsePointer, type Pointer } from './pointer.ts';

/** The settings that decide about keys; durations in microseconds. */
export interface RuleSettings {
  readonly completionStatuses: readonly string[];
  readonly summaryFields: readonly string[];
  readonly silence: Micros;
  readonly age: Micros;
  readonly grace: Micros;
  readonly settle: Micros;
  readonly settleMax: Micros;
  readonly retention: Micros;
  readonly claim: Micros;
  readonly idsInline: number;
  readonly stepsKept: number;
  readonly stepsBytes: number;
  readonly shards: number;
}

export interface Rules extends Omit<RuleSettings, 'completionStatuses' | 'summaryFields'> {
  readonly completionStatuses: ReadonlySet<string>;
  readonly pointers: readonly Pointer[];
}

/** @throws Error when a summary field is not a JSON pointer */
export function createRules(settings: RuleSettings): Rules {
  return {
    ...settings,
    completionStatuses: new Set(settings.completionStatuses),
    pointers: settings.summaryFields.map(parsePointer),
  };
}
