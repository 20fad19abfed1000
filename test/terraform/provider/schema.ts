import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A Terraform type: `string`, `["map","string"]`, `["object",{...}]`. */
export type Type = 'string' | 'number' | 'bool' | 'dynamic' | readonly [string, Type] | readonly ['object', Fields];
export interface Fields {
  readonly [name: string]: Type;
}

/** As `terraform providers schema -json` prints it, with what the provider's code adds: allowed values and defaults. */
export interface Attribute {
  readonly type: Type;
  readonly required?: boolean;
  readonly optional?: boolean;
  readonly computed?: boolean;
  readonly sensitive?: boolean;
  readonly write_only?: boolean;
  readonly x_enum?: readonly string[];
  readonly x_default?: unknown;
}

export interface NestedBlock {
  readonly nesting_mode: 'single' | 'list' | 'set' | 'map' | 'group';
  readonly min_items?: number;
  readonly max_items?: number;
  readonly block: Block;
}

export interface Block {
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly block_types?: Readonly<Record<string, NestedBlock>>;
}

export interface Schema {
  readonly version?: number;
  readonly block: Block;
  /** Attributes whose change replaces the resource. */
  readonly x_force_new?: readonly string[];
}

export interface ProviderSchema {
  readonly provider?: Schema;
  readonly resource_schemas?: Readonly<Record<string, Schema>>;
  readonly data_source_schemas?: Readonly<Record<string, Schema>>;
}

export const SCHEMA_FILE = path.join(import.meta.dirname, 'google-provider-schema.json');

/** Schemas by provider address, such as `hashicorp/google`. */
export function loadSchemas(file = SCHEMA_FILE): Readonly<Record<string, ProviderSchema>> {
  const parsed = JSON.parse(readFileSync(file, 'utf8')) as { provider_schemas: Record<string, ProviderSchema> };
  return parsed.provider_schemas;
}

const NESTING = { single: 1, list: 2, set: 3, map: 4, group: 5 } as const;

/** A block as the plugin protocol sends it. */
function wireBlock(block: Block): object {
  return {
    version: 0,
    attributes: Object.entries(block.attributes ?? {}).map(([name, a]) => ({
      name,
      type: Buffer.from(JSON.stringify(a.type)),
      required: a.required ?? false,
      optional: a.optional ?? false,
      computed: a.computed ?? false,
      sensitive: a.sensitive ?? false,
      write_only: a.write_only ?? false,
    })),
    block_types: Object.entries(block.block_types ?? {}).map(([type_name, nested]) => ({
      type_name,
      nesting: NESTING[nested.nesting_mode],
      min_items: nested.min_items ?? 0,
      max_items: nested.max_items ?? 0,
      block: wireBlock(nested.block),
    })),
  };
}

function wireSchema(schema: Schema): object {
  return { version: schema.version ?? 0, block: wireBlock(schema.block) };
}

function wireAll(schemas: Readonly<Record<string, Schema>> = {}): Record<string, object> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, wireSchema(schema)]));
}

/** The answer to GetSchema. */
export function wireProvider(schema: ProviderSchema): object {
  return {
    provider: wireSchema(schema.provider ?? { block: {} }),
    resource_schemas: wireAll(schema.resource_schemas),
    data_source_schemas: wireAll(schema.data_source_schemas),
    diagnostics: [],
    server_capabilities: {},
  };
}
