import type { Ranges } from './pruning.ts';
import { errorAt } from './lexer.ts';
import type { CompileContext, SqlError, TableRef } from './types.ts';
import type { Typed, Type } from './typing.ts';

/** A stored column that a scan reads, `scan#column`. */
export type Dep = string;

/** A scan while it is being compiled. */
export interface ScanState {
  readonly ref: TableRef;
  readonly partitioning?: string;
  readonly appends?: { readonly from: number; readonly to: number };
  readonly columns: Set<string>;
  ranges?: Ranges;
}

/** What one statement's compilation gathers. */
export class State {
  readonly context: CompileContext;
  readonly scans: ScanState[] = [];
  /** How each table is read: APPENDS, a time, or now. */
  readonly readings = new Map<string, string>();
  #aliases = 0;

  constructor(context: CompileContext) {
    this.context = context;
  }

  alias(): string {
    this.#aliases += 1;
    return `t${this.#aliases}`;
  }

  use(deps: Iterable<Dep>): void {
    for (const dep of deps) {
      const at = dep.indexOf('#');
      this.scans[Number(dep.slice(0, at))]?.columns.add(dep.slice(at + 1));
    }
  }
}

export interface Column {
  readonly name: string | undefined;
  readonly sql: string;
  readonly type: Type;
  readonly deps: ReadonlySet<Dep>;
  /** The scan whose partitioning column this is, where constant predicates on it prune. */
  readonly prunes?: ScanState;
  /** Joined by USING: the merged column stands for it. */
  readonly merged?: boolean;
}

/** One alias of a FROM clause and its columns. */
export interface Range {
  readonly alias: string | undefined;
  readonly columns: readonly Column[];
  /** UNNEST of scalars: the alias is the value itself. */
  readonly element?: Column;
}

export interface Cte {
  readonly sql: string;
  readonly columns: readonly Column[];
}

/** Where names are looked up. */
export interface Scope {
  readonly state: State;
  readonly sql: string;
  /** Views take no parameters. */
  readonly view: boolean;
  readonly ranges: readonly Range[];
  readonly parent?: Scope;
  readonly ctes: ReadonlyMap<string, Cte>;
  /** Views being expanded. */
  readonly views: readonly string[];
  /** SELECT aliases, for ORDER BY, GROUP BY, HAVING and QUALIFY. */
  readonly aliases?: ReadonlyMap<string, Typed & { readonly deps: ReadonlySet<Dep> }>;
  /** Grouped expressions by their DuckDB text; present after GROUP BY or with aggregates. */
  readonly grouped?: ReadonlySet<string>;
  readonly aggregates: boolean;
  readonly windows: boolean;
  /** Receives what is read. */
  readonly deps: Set<Dep>;
}

export function fail(scope: Scope, pos: number, message: string, reason?: string): SqlError {
  return errorAt(scope.sql, pos, message, reason);
}

export function refuse(scope: Scope, pos: number, what: string): SqlError {
  return fail(scope, pos, `${what} is not supported by the local BigQuery`);
}

export interface Found {
  readonly column?: Column;
  readonly range?: Range;
  readonly outer: boolean;
}

/** The column or alias that a first name means, from the innermost scope outwards. */
export function lookup(scope: Scope, name: string, pos: number): Found | undefined {
  const wanted = name.toLowerCase();
  let outer = false;
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    const columns = at.ranges.flatMap((range) =>
      range.columns.filter((column) => column.name?.toLowerCase() === wanted && column.merged !== true),
    );
    const range = at.ranges.find((one) => one.alias?.toLowerCase() === wanted);
    // An alias of FROM comes before columns of the same name.
    if (range?.element) return { column: range.element, outer };
    if (range) return { range, outer };
    if (columns.length > 1) throw fail(scope, pos, `Column name ${name} is ambiguous`);
    if (columns[0]) return { column: columns[0], outer };
    outer = true;
  }
  return undefined;
}
