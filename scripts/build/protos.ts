import protobuf from 'protobufjs';

/** The services of Google Cloud that the functions call over gRPC, and which of their methods. */
export const METHODS: Readonly<Record<string, readonly string[]>> = {
  'google.firestore.v1.Firestore': ['BatchGetDocuments', 'Commit', 'Rollback', 'RunAggregationQuery', 'RunQuery'],
  'google.cloud.bigquery.storage.v1.BigQueryWrite': ['AppendRows'],
  'google.cloud.tasks.v2.CloudTasks': ['CreateTask'],
  'google.pubsub.v1.Publisher': ['Publish'],
};

/** A node of protobufjs's JSON: a namespace, a message, an enumeration or a service. */
export interface Node {
  readonly options?: unknown;
  readonly nested?: Readonly<Record<string, Node>>;
  readonly fields?: Readonly<Record<string, Field>>;
  readonly values?: object;
  readonly methods?: Readonly<Record<string, Method>>;
}
interface Field {
  readonly options?: Readonly<Record<string, unknown>>;
}
interface Method {
  readonly requestType: string;
  readonly responseType: string;
  readonly requestStream?: boolean;
  readonly responseStream?: boolean;
}

/**
 * Definitions of a client without what the functions never send nor receive: their own methods, and the types that those
 * reach. An instance that starts turns definitions into classes, all of them, which took longer than all its other work.
 * A service of which nothing is called keeps its name, since clients of other services are made along with it.
 */
export function prune(json: Node): Node {
  const types = reached(json);
  return { nested: namespace(json, '', types) };
}

/** Full names of the messages and enumerations that the methods need. */
function reached(json: Node): ReadonlySet<string> {
  const root = protobuf.Root.fromJSON(json as protobuf.INamespace).resolveAll();
  const found = new Set<string>();
  const visit = (type: protobuf.ReflectionObject | null): void => {
    if (type === null || found.has(type.fullName)) return;
    found.add(type.fullName);
    if (type instanceof protobuf.Type) for (const field of type.fieldsArray) visit(field.resolvedType);
  };
  for (const [name, methods] of Object.entries(METHODS)) {
    const service = root.lookup(name);
    if (!(service instanceof protobuf.Service)) continue;
    for (const name of methods) {
      const method = service.methods[name]!;
      method.resolve();
      visit(method.resolvedRequestType);
      visit(method.resolvedResponseType);
    }
  }
  return found;
}

function namespace(node: Node, name: string, types: ReadonlySet<string>): Record<string, Node> {
  const kept: Record<string, Node> = {};
  for (const [child, content] of Object.entries(node.nested ?? {})) {
    const fullName = `${name}.${child}`;
    const pruned = content.methods ? service(content.methods, fullName) : type(content, fullName, types);
    if (pruned !== null) kept[child] = pruned;
  }
  return kept;
}

function service(methods: Readonly<Record<string, Method>>, fullName: string): Node {
  const called = METHODS[fullName.slice(1)] ?? [];
  // Their options are for REST.
  const kept = called.map((name) => {
    const { requestType, responseType, requestStream = false, responseStream = false } = methods[name]!;
    return [name, { requestType, responseType, requestStream, responseStream }];
  });
  return { methods: Object.fromEntries(kept) as Record<string, Method> };
}

/** A message, an enumeration or a namespace; null when neither it nor anything in it is needed. */
function type(node: Node, fullName: string, types: ReadonlySet<string>): Node | null {
  const nested = namespace(node, fullName, types);
  const inner = Object.keys(nested).length === 0 ? {} : { nested };
  if (!types.has(fullName)) return 'nested' in inner ? inner : null;
  const { options: _, nested: __, fields, ...rest } = node;
  return { ...rest, ...(fields ? { fields: plain(fields) } : {}), ...inner };
}

/** Fields with only those options that say how they are encoded. */
function plain(fields: Readonly<Record<string, Field>>): Record<string, Field> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { options = {}, ...field }]) => {
      const kept = Object.entries(options).filter(([option]) => option === 'packed' || option === 'proto3_optional');
      return [name, kept.length === 0 ? field : { ...field, options: Object.fromEntries(kept) }];
    }),
  );
}
