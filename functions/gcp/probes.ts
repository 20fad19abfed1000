import type { Probes } from '../ports.ts';
import { createJobProbe } from './probe-bigquery.ts';
import { createHttpProbe } from './probe-http.ts';
import type { AdapterContext } from './runtime.ts';

export function createProbes(context: AdapterContext): Probes {
  return { http: createHttpProbe(context), job: createJobProbe(context) };
}
