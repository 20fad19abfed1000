/** The syntax tree. `pos` is the offset of a node's first character. */

export type TypeName =
  | { readonly kind: 'simple'; readonly name: string; readonly pos: number }
  | { readonly kind: 'array'; readonly element: TypeName; readonly pos: number }
  | { readonly kind: 'struct'; readonly fields: readonly { name: string; type: TypeName }[]; readonly pos: number };

export interface OrderItem {
  readonly value: Expr;
  readonly descending: boolean;
  readonly nulls?: 'FIRST' | 'LAST';
}

export interface Window {
  readonly partitionBy: readonly Expr[];
  readonly orderBy: readonly OrderItem[];
  /** `ROWS BETWEEN ...` in words that both dialects share. */
  readonly frame?: string;
}

export interface Call {
  readonly kind: 'call';
  readonly name: string;
  readonly safe: boolean;
  readonly args: readonly Expr[];
  readonly star: boolean;
  readonly distinct: boolean;
  readonly nulls?: 'IGNORE' | 'RESPECT';
  readonly orderBy: readonly OrderItem[];
  readonly limit?: Expr;
  readonly over?: Window;
  readonly pos: number;
}

export interface Path {
  readonly kind: 'path';
  readonly names: readonly string[];
  readonly pos: number;
}

export type Expr =
  | {
      readonly kind: 'literal';
      readonly type: 'INT64' | 'FLOAT64' | 'STRING' | 'BYTES' | 'BOOL' | 'NULL';
      readonly value: string;
      readonly pos: number;
    }
  | { readonly kind: 'typed'; readonly type: string; readonly value: string; readonly pos: number }
  | { readonly kind: 'param'; readonly name: string; readonly pos: number }
  | Path
  | { readonly kind: 'field'; readonly base: Expr; readonly name: string; readonly pos: number }
  | { readonly kind: 'index'; readonly base: Expr; readonly index: Expr; readonly mode: string; readonly pos: number }
  | { readonly kind: 'unary'; readonly op: '-' | 'NOT'; readonly arg: Expr; readonly pos: number }
  | { readonly kind: 'binary'; readonly op: string; readonly left: Expr; readonly right: Expr; readonly pos: number }
  | {
      readonly kind: 'is';
      readonly arg: Expr;
      readonly not: boolean;
      readonly what: 'NULL' | 'TRUE' | 'FALSE';
      readonly pos: number;
    }
  | {
      readonly kind: 'between';
      readonly arg: Expr;
      readonly low: Expr;
      readonly high: Expr;
      readonly not: boolean;
      readonly pos: number;
    }
  | {
      readonly kind: 'in';
      readonly arg: Expr;
      readonly not: boolean;
      readonly list?: readonly Expr[];
      readonly unnest?: Expr;
      readonly query?: Query;
      readonly pos: number;
    }
  | {
      readonly kind: 'case';
      readonly operand?: Expr;
      readonly whens: readonly (readonly [Expr, Expr])[];
      readonly otherwise?: Expr;
      readonly pos: number;
    }
  | { readonly kind: 'cast'; readonly arg: Expr; readonly type: TypeName; readonly safe: boolean; readonly pos: number }
  | { readonly kind: 'extract'; readonly part: string; readonly arg: Expr; readonly zone?: Expr; readonly pos: number }
  | { readonly kind: 'interval'; readonly value: Expr; readonly part: string; readonly pos: number }
  | { readonly kind: 'array'; readonly element?: TypeName; readonly items: readonly Expr[]; readonly pos: number }
  | {
      readonly kind: 'struct';
      readonly fields: readonly { readonly name?: string; readonly value: Expr }[];
      readonly types?: readonly { name: string; type: TypeName }[];
      readonly pos: number;
    }
  | {
      readonly kind: 'subquery';
      readonly mode: 'scalar' | 'array' | 'exists';
      readonly query: Query;
      readonly pos: number;
    }
  | Call;

export type SelectItem =
  | { readonly kind: 'expr'; readonly value: Expr; readonly alias?: string; readonly pos: number }
  | {
      readonly kind: 'star';
      readonly base?: Expr;
      readonly except: readonly string[];
      readonly replace: readonly { readonly name: string; readonly value: Expr }[];
      readonly pos: number;
    };

export type From =
  | {
      readonly kind: 'table';
      readonly path: readonly string[];
      readonly alias?: string;
      readonly systemTime?: Expr;
      readonly pos: number;
    }
  | {
      readonly kind: 'appends';
      readonly path: readonly string[];
      readonly start?: Expr;
      readonly end?: Expr;
      readonly alias?: string;
      readonly pos: number;
    }
  | { readonly kind: 'query'; readonly query: Query; readonly alias?: string; readonly pos: number }
  | {
      readonly kind: 'unnest';
      readonly array: Expr;
      readonly alias?: string;
      readonly offset?: string;
      readonly pos: number;
    }
  | {
      readonly kind: 'join';
      readonly type: 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' | 'CROSS';
      readonly left: From;
      readonly right: From;
      readonly on?: Expr;
      readonly using?: readonly string[];
      readonly pos: number;
    };

export interface Select {
  readonly kind: 'select';
  readonly distinct: boolean;
  readonly asStruct: boolean;
  readonly items: readonly SelectItem[];
  readonly from?: From;
  readonly where?: Expr;
  readonly groupBy: readonly Expr[];
  readonly having?: Expr;
  readonly qualify?: Expr;
  readonly pos: number;
}

export type Body =
  | Select
  | {
      readonly kind: 'set';
      readonly op: 'UNION ALL' | 'UNION DISTINCT' | 'INTERSECT DISTINCT' | 'EXCEPT DISTINCT';
      readonly left: Body;
      readonly right: Body;
      readonly pos: number;
    }
  | { readonly kind: 'nested'; readonly query: Query; readonly pos: number };

export interface Query {
  readonly with: readonly { readonly name: string; readonly query: Query; readonly pos: number }[];
  readonly body: Body;
  readonly orderBy: readonly OrderItem[];
  readonly limit?: Expr;
  readonly offset?: Expr;
  readonly pos: number;
}

export interface Assignment {
  /** Alias of the target in front of the column. */
  readonly qualifier?: string;
  readonly column: string;
  /** Absent for DEFAULT. */
  readonly value?: Expr;
  readonly pos: number;
}

export interface MergeWhen {
  readonly match: 'matched' | 'by-target' | 'by-source';
  readonly condition?: Expr;
  readonly action:
    | { readonly kind: 'update'; readonly set: readonly Assignment[] }
    | { readonly kind: 'delete' }
    | {
        readonly kind: 'insert';
        readonly columns?: readonly string[];
        readonly values?: readonly (Expr | undefined)[];
      };
  readonly pos: number;
}

export interface Target {
  readonly path: readonly string[];
  readonly alias?: string;
  readonly pos: number;
}

export type Statement =
  | { readonly kind: 'select'; readonly query: Query }
  | {
      readonly kind: 'insert';
      readonly target: Target;
      readonly columns?: readonly string[];
      readonly rows?: readonly (readonly (Expr | undefined)[])[];
      readonly query?: Query;
    }
  | {
      readonly kind: 'update';
      readonly target: Target;
      readonly set: readonly Assignment[];
      readonly from?: From;
      readonly where: Expr;
    }
  | { readonly kind: 'delete'; readonly target: Target; readonly where: Expr }
  | {
      readonly kind: 'merge';
      readonly target: Target;
      readonly source: From;
      readonly on: Expr;
      readonly whens: readonly MergeWhen[];
    };
