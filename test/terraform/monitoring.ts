import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SETTINGS } from '../../functions/settings.ts';
import { sources } from './source-graph.ts';
import type { Plan } from './terraform.ts';

/** Each place where a line is logged: its `event`, and the source around it. */
function logLines(): ReadonlyMap<string, string> {
  const lines = new Map<string, string>();
  for (const text of sources().values()) {
    for (const match of text.matchAll(/event: '([a-z_]+(?:\.[a-z_]+)?)'/g)) {
      lines.set(match[1]!, (lines.get(match[1]!) ?? '') + text);
    }
  }
  return lines;
}

/** Filters on events that are not logged, and extractors of fields that are not there. */
export function metricProblems(plan: Plan): readonly string[] {
  const lines = logLines();
  return plan.of('google_logging_metric').flatMap(({ address, after }) => {
    const event = /jsonPayload\.event="([^"]+)"/.exec(String(after['filter']))?.[1] ?? '';
    const source = lines.get(event);
    if (source === undefined) return [`${address}: nothing logs ${event}`];
    const text = JSON.stringify([after['value_extractor'], after['label_extractors'], after['filter']]);
    const fields = [...text.matchAll(/jsonPayload\.([\w.]+)[)>]/g)].map(([, field]) => field!);
    const everything = [...sources().values()].join('\n');
    return fields
      .map((field) => field.split('.').at(-1)!)
      .filter((field) => !new RegExp(`\\b${field}\\b`).test(event.startsWith('sweep.') ? everything : source))
      .map((field) => `${address}: ${event} has no ${field}`);
  });
}

/** A filter, and how what it finds becomes a number. */
interface Look {
  readonly filter: string;
  readonly aligner: string;
}

interface Condition {
  readonly filter: string;
  readonly aggregations: readonly { readonly per_series_aligner: string }[];
}

/** Conditions of alarms: those on a threshold and those on an absence. */
function alarmLooks(plan: Plan): readonly Look[] {
  return plan
    .of('google_monitoring_alert_policy')
    .flatMap(({ after }) =>
      (after['conditions'] as Record<string, readonly Condition[] | undefined>[])
        .flatMap((one) => [...(one['condition_threshold'] ?? []), ...(one['condition_absent'] ?? [])])
        .map(({ filter, aggregations }) => ({ filter, aligner: aggregations[0]!.per_series_aligner })),
    );
}

interface DataSet {
  readonly timeSeriesQuery: {
    readonly prometheusQuery?: string;
    readonly timeSeriesFilter?: {
      readonly filter: string;
      readonly aggregation: { readonly perSeriesAligner: string };
    };
  };
}

function dataSets(plan: Plan): readonly DataSet[] {
  return plan.of('google_monitoring_dashboard').flatMap(({ after }) => {
    const { mosaicLayout } = JSON.parse(String(after['dashboard_json'])) as {
      mosaicLayout: { tiles: { widget: { xyChart: { dataSets: DataSet[] } } }[] };
    };
    return mosaicLayout.tiles.flatMap(({ widget }) => widget.xyChart.dataSets);
  });
}

/** Metrics that neither alarms nor the dashboard look at, and looks at none, or not as what the metric is. */
export function lookProblems(plan: Plan): readonly string[] {
  const metrics = plan.of('google_logging_metric').map(({ key, after }) => {
    const [descriptor] = after['metric_descriptor'] as [{ value_type: string }];
    const name = String(after['name']);
    const promql = `logging_googleapis_com:user_${name.replaceAll(/[^a-z]/g, '_')}`;
    const isDistribution = descriptor.value_type === 'DISTRIBUTION';
    return { key, type: `logging.googleapis.com/user/${name}"`, promql: isDistribution ? `${promql}_sum` : promql, isDistribution }; // prettier-ignore
  });
  const charts = dataSets(plan).map(({ timeSeriesQuery }) => timeSeriesQuery);
  const filters = charts.flatMap(({ timeSeriesFilter: one }) => one === undefined ? [] : [{ filter: one.filter, aligner: one.aggregation.perSeriesAligner }]); // prettier-ignore
  const looks = [...alarmLooks(plan), ...filters];
  const queried = charts.flatMap(({ prometheusQuery = '' }) => prometheusQuery.match(/\w+:\w+/g) ?? []);
  return [
    ...metrics
      .filter(({ type, promql }) => !looks.some(({ filter }) => filter.includes(type)) && !queried.includes(promql))
      .map(({ key }) => `nobody looks at ${key}`),
    ...queried
      .filter((one) => !metrics.some(({ promql }) => promql === one || promql === one.replace(/_count$/, '_sum')))
      .map((one) => `${one} is no metric`),
    ...metrics.flatMap(({ key, type, isDistribution }) =>
      looks
        .filter(
          ({ filter, aligner }) => filter.includes(type) && isDistribution !== aligner.startsWith('ALIGN_PERCENTILE'),
        ) // prettier-ignore
        .map(({ aligner }) => `${key} is aligned as ${aligner}`),
    ),
  ];
}

const SECTIONS = ['Meaning', 'Impact', 'Diagnosis', 'Mitigation'];

/** What is wrong with a page of docs/operations. */
export function pageProblems(text: string, pages: readonly string[]): readonly string[] {
  const lines = logLines();
  const variables = readFileSync(path.resolve(import.meta.dirname, '../../terraform/variables.tf'), 'utf8');
  const settings = new Set<string>(Object.values(SETTINGS).map((setting) => setting.env));
  const names = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name!);
  return [
    ...SECTIONS.filter((section) => !new RegExp(`^## ${section}\n\n\\S`, 'm').test(text)).map((s) => `no section ${s}`),
    ...(/```sh\n(gcloud|bq) /.test(text) ? [] : ['no command']),
    ...names(/[`"]((?:ingest|finish|join|poll|sweep)\.[a-z_]+)[`"]/g)
      .filter((event) => !lines.has(event))
      .map((event) => `nothing logs ${event}`),
    ...names(/`([A-Z]+_[A-Z_]+)`/g)
      .filter((name) => !settings.has(name) && !/^(PERMISSION_DENIED|DEADLINE_EXCEEDED)$/.test(name))
      .map((name) => `no setting ${name}`),
    ...names(/`(?:alerts|subscriptions|queues|schedules|bigquery|polling)\.(\w+)`/g)
      .filter((name) => !new RegExp(`^\\s+${name}\\s+= optional`, 'm').test(variables))
      .map((name) => `no variable with ${name}`),
    ...names(/\]\(([\w-]+\.md)\)/g).filter((page) => !pages.includes(page)).map((page) => `no page ${page}`), // prettier-ignore
  ];
}
