import data from './kubernetes-messages.json' with { type: 'json' };

/*
 * kubernetes-messages.json is written by scripts/kubernetes-facts.mjs. Per message: field number -> `name type`.
 *   type   string bytes bool int32 int64 double | []T repeated | {}T map with string keys | name of another message
 *          `*` before it where Go holds a pointer: an empty value is not nothing
 *   name   `*` where the fields of the message are in the parent's JSON object
 */
const MESSAGES = data as Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface MessageField {
  readonly name: string;
  readonly type: string;
  readonly repeated: boolean;
  readonly map: boolean;
  /** The message's fields belong to the parent. */
  readonly inline: boolean;
  /** The Go field is a pointer: a present value is kept even if it is empty. */
  readonly pointer: boolean;
}

const SCALARS: ReadonlySet<string> = new Set(['string', 'bytes', 'bool', 'int32', 'int64', 'double']);
const parsed = new Map<string, ReadonlyMap<number, MessageField>>();

export function isScalar(type: string): boolean {
  return SCALARS.has(type);
}

/** Fields of a message by number; undefined when there is no such message. */
export function messageFields(name: string): ReadonlyMap<number, MessageField> | undefined {
  const known = parsed.get(name);
  if (known !== undefined) return known;
  if (!Object.hasOwn(MESSAGES, name)) return undefined;
  const fields = new Map<number, MessageField>();
  for (const [number, text] of Object.entries(MESSAGES[name] ?? {})) {
    const [field = '', goType = ''] = text.split(' ');
    const pointer = goType.startsWith('*');
    const type = pointer ? goType.slice(1) : goType;
    const repeated = type.startsWith('[]');
    const map = type.startsWith('{}');
    fields.set(Number(number), {
      name: field,
      type: repeated || map ? type.slice(2) : type,
      repeated,
      map,
      inline: field === '*',
      pointer,
    });
  }
  parsed.set(name, fields);
  return fields;
}
