import { archiveFile } from './archive.ts';
import { atApply, atPlan, dataOf } from './computed.ts';
import { rulesOf } from './rules.ts';
import { wireProvider, type Block, type ProviderSchema } from './schema.ts';
import {
  complete,
  dig,
  isObject,
  isUnknown,
  mapAttributes,
  read,
  UNKNOWN,
  write,
  type DynamicValue,
  type Path,
  type Value,
  type ValueObject,
} from './values.ts';

/** The members of the protocol's requests that matter here. */
export interface Request {
  readonly type_name: string;
  readonly id: string;
  readonly config: DynamicValue | null;
  readonly prior_state: DynamicValue | null;
  readonly proposed_new_state: DynamicValue | null;
  readonly planned_state: DynamicValue | null;
  readonly current_state: DynamicValue | null;
  readonly raw_state: DynamicValue | null;
  readonly prior_private: Uint8Array;
  readonly planned_private: Uint8Array;
  readonly private: Uint8Array;
}

interface Diagnostic {
  readonly severity: 1;
  readonly summary: string;
  readonly detail: string;
  readonly attribute: { steps: readonly object[] } | null;
}

function diagnostic(summary: string, at: Path = []): Diagnostic {
  const steps = at.map((step) => (typeof step === 'number' ? { element_key_int: step } : { attribute_name: step }));
  return { severity: 1, summary, detail: '', attribute: steps.length > 0 ? { steps } : null };
}

export type Method = (request: Request, peer: string) => object;

/**
 * A provider that knows a schema and nothing else: it checks a configuration as the real one would, plans computed
 * attributes as unknown and makes them up at apply. No network, no cloud.
 */
export function providerOf(schema: ProviderSchema, directory: () => string): Readonly<Record<string, Method>> {
  // Each connection is a provider block with a configuration of its own.
  const configured = new Map<string, ValueObject>();
  const settings = (peer: string): ValueObject => configured.get(peer) ?? {};

  function blockOf(kind: 'resource' | 'data', type: string): Block {
    const found = (kind === 'resource' ? schema.resource_schemas : schema.data_source_schemas)?.[type];
    if (found === undefined) throw new Error(`no ${kind} ${type}`);
    return found.block;
  }

  function validate(kind: 'resource' | 'data', type: string, config: Value): { diagnostics: readonly Diagnostic[] } {
    const diagnostics: Diagnostic[] = [];
    mapAttributes(blockOf(kind, type), config, (attribute, value, at) => {
      const name = at.filter((step) => typeof step === 'string').join('.');
      const settable = attribute.optional === true || attribute.required === true;
      if (value !== null && attribute.computed === true && !settable) {
        diagnostics.push(diagnostic(`${name} is set by the provider and cannot be configured`, at));
      } else if (typeof value === 'string' && value !== '' && attribute.x_enum?.includes(value) === false) {
        diagnostics.push(diagnostic(`expected ${name} to be one of ${attribute.x_enum.join(', ')}, got ${value}`, at));
      }
      return value;
    });
    if (kind === 'resource' && isObject(config)) {
      for (const rule of rulesOf(type)) diagnostics.push(...rule(config).map((problem) => diagnostic(problem)));
    }
    return { diagnostics };
  }

  function plan(type: string, prior: Value, proposed: Value, config: Value, provider: ValueObject): Value {
    if (!isObject(proposed) || !isObject(config)) return null;
    const known = atPlan(type, config, provider);
    return mapAttributes(blockOf('resource', type), proposed, (attribute, value, at) => {
      if (attribute.write_only === true) return null;
      if (value !== null) return value;
      if (attribute.computed === true && dig(config, at) === null) {
        if (at.length === 1 && known[String(at[0])] !== undefined) return known[String(at[0])]!;
        const before = dig(prior, at);
        return before ?? UNKNOWN;
      }
      return attribute.x_default === undefined ? value : (attribute.x_default as Value);
    });
  }

  function apply(type: string, planned: Value, provider: ValueObject): Value {
    if (!isObject(planned)) return null;
    return mapAttributes(blockOf('resource', type), planned, (attribute, value, at) =>
      isUnknown(value) ? atApply(type, at, attribute.type, planned, provider) : value,
    );
  }

  function readData(type: string, config: Value, provider: ValueObject): Value {
    const own = isObject(config) ? config : {};
    const answers = type === 'archive_file' ? archiveFile(own, directory()) : dataOf(type, config, provider);
    return mapAttributes(blockOf('data', type), config, (attribute, value, at) => {
      if (value !== null || attribute.computed !== true) return value;
      return answers[String(at[0])] ?? atApply(type, at, attribute.type, own, provider);
    });
  }

  return {
    GetSchema: () => wireProvider(schema),
    PrepareProviderConfig: (r) => ({ prepared_config: r.config, diagnostics: [] }),
    Configure: (r, peer) => {
      const config = read(r.config);
      if (isObject(config)) configured.set(peer, config);
      return { diagnostics: [] };
    },
    ValidateResourceTypeConfig: (r) => validate('resource', r.type_name, read(r.config)),
    ValidateDataSourceConfig: (r) => validate('data', r.type_name, read(r.config)),
    UpgradeResourceState: (r) => ({
      upgraded_state: write(complete(blockOf('resource', r.type_name), read(r.raw_state))),
      diagnostics: [],
    }),
    ReadResource: (r) => ({ new_state: r.current_state, private: r.private, diagnostics: [] }),
    PlanResourceChange: (r, peer) => {
      const prior = read(r.prior_state);
      const planned = plan(r.type_name, prior, read(r.proposed_new_state), read(r.config), settings(peer));
      const forced = schema.resource_schemas?.[r.type_name]?.x_force_new ?? [];
      const replaced = forced.filter(
        (name) => isObject(prior) && isObject(planned) && JSON.stringify(prior[name]) !== JSON.stringify(planned[name]),
      );
      return {
        planned_state: write(planned),
        planned_private: r.prior_private,
        requires_replace: replaced.map((name) => ({ steps: [{ attribute_name: name }] })),
        diagnostics: [],
        legacy_type_system: true,
      };
    },
    ApplyResourceChange: (r, peer) => ({
      new_state: write(apply(r.type_name, read(r.planned_state), settings(peer))),
      private: r.planned_private,
      diagnostics: [],
      legacy_type_system: true,
    }),
    ImportResourceState: (r) => ({
      imported_resources: [
        { type_name: r.type_name, state: write(complete(blockOf('resource', r.type_name), { id: r.id })) },
      ],
      diagnostics: [],
    }),
    ReadDataSource: (r, peer) => {
      try {
        return { state: write(readData(r.type_name, read(r.config), settings(peer))), diagnostics: [] };
      } catch (error) {
        return { diagnostics: [diagnostic((error as Error).message)] };
      }
    },
    Stop: () => ({ Error: '' }),
  };
}
