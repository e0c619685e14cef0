import { isObject, type JsonObject, type JsonValue } from '../../json/json-value.ts';
import { ProtoWriter } from '../../proto/proto-writer.ts';

/**
 * How one value is written.
 *   text bool number integer  scalars · texts  a list of texts · any  JSON as text
 *   other names  a message of MESSAGES, or one of a list of them
 */
type Field = readonly [number: number, how: string, repeated?: 'repeated'];

interface Message {
  readonly fields: Readonly<Record<string, Field>>;
  /** Keys that are not in `fields` become repeated `Named…` messages: these begin with `x-`. */
  readonly extensions?: number;
  /** All other keys: field number, and how their values are written. */
  readonly entries?: Field;
}

const LIMITS: Readonly<Record<string, Field>> = {
  multipleOf: [6, 'number'],
  maximum: [7, 'number'],
  exclusiveMaximum: [8, 'bool'],
  minimum: [9, 'number'],
  exclusiveMinimum: [10, 'bool'],
  maxLength: [11, 'integer'],
  minLength: [12, 'integer'],
  pattern: [13, 'text'],
  maxItems: [14, 'integer'],
  minItems: [15, 'integer'],
  uniqueItems: [16, 'bool'],
  maxProperties: [17, 'integer'],
  minProperties: [18, 'integer'],
};

/** What the documents of the hub use. Source: github.com/google/gnostic-models openapiv2/OpenAPIv2.proto. */
const MESSAGES: Readonly<Record<string, Message>> = {
  Document: {
    fields: {
      swagger: [1, 'text'],
      info: [2, 'Info'],
      paths: [8, 'Paths'],
      definitions: [9, 'Schemas'],
      security: [12, 'SecurityRequirement', 'repeated'],
      securityDefinitions: [13, 'SecurityDefinitions'],
    },
  },
  Info: { fields: { title: [1, 'text'], version: [2, 'text'] } },
  Paths: { fields: {}, entries: [2, 'PathItem'] },
  PathItem: {
    fields: {
      get: [2, 'Operation'],
      put: [3, 'Operation'],
      post: [4, 'Operation'],
      delete: [5, 'Operation'],
      patch: [8, 'Operation'],
      parameters: [9, 'Parameter', 'repeated'],
    },
  },
  Operation: {
    fields: {
      produces: [6, 'texts'],
      consumes: [7, 'texts'],
      parameters: [8, 'Parameter', 'repeated'],
      responses: [9, 'Responses'],
      schemes: [10, 'texts'],
    },
    extensions: 13,
  },
  BodyParameter: {
    fields: { name: [2, 'text'], in: [3, 'text'], required: [4, 'bool'], schema: [5, 'Schema'] },
  },
  QueryParameter: {
    fields: { in: [2, 'text'], name: [4, 'text'], type: [6, 'text'], uniqueItems: [20, 'bool'] },
  },
  PathParameter: {
    fields: {
      required: [1, 'bool'],
      in: [2, 'text'],
      name: [4, 'text'],
      type: [5, 'text'],
      uniqueItems: [19, 'bool'],
    },
  },
  Responses: { fields: {}, entries: [1, 'ResponseValue'] },
  Response: { fields: { description: [1, 'text'], schema: [2, 'SchemaItem'] } },
  SecurityRequirement: { fields: {}, entries: [1, 'StringArray'] },
  SecurityDefinitions: { fields: {}, entries: [1, 'SecurityDefinition'] },
  ApiKeySecurity: { fields: { type: [1, 'text'], name: [2, 'text'], in: [3, 'text'] } },
  Schemas: { fields: {}, entries: [1, 'Schema'] },
  Schema: {
    fields: {
      $ref: [1, 'text'],
      format: [2, 'text'],
      description: [4, 'text'],
      ...LIMITS,
      required: [19, 'texts'],
      enum: [20, 'any', 'repeated'],
      additionalProperties: [21, 'AdditionalProperties'],
      type: [22, 'StringArray'],
      items: [23, 'Items'],
      properties: [25, 'Schemas'],
    },
    extensions: 31,
  },
};

/** Messages that hold one of several others, by the field that the value goes to. */
const CHOICES: Readonly<Record<string, (value: JsonValue) => Field>> = {
  AdditionalProperties: (value) => (typeof value === 'boolean' ? [2, 'bool'] : [1, 'Schema']),
  Items: () => [1, 'Schema'],
  SchemaItem: () => [1, 'Schema'],
  ResponseValue: () => [1, 'Response'],
  SecurityDefinition: () => [2, 'ApiKeySecurity'],
  StringArray: () => [1, 'texts'],
  Parameter: () => [1, 'AnyParameter'],
  AnyParameter: (value) => (placeOf(value) === 'body' ? [1, 'BodyParameter'] : [2, 'NonBodyParameter']),
  NonBodyParameter: (value) => (placeOf(value) === 'path' ? [4, 'PathParameter'] : [3, 'QueryParameter']),
};

const placeOf = (value: JsonValue): JsonValue | undefined => (isObject(value) ? value['in'] : undefined);

/** An OpenAPI v2 document of the hub as the protobuf message that client-go reads. */
export function encodeGnostic(document: JsonObject): Buffer {
  const writer = new ProtoWriter();
  write(writer, 'Document', document);
  return writer.finish();
}

function write(writer: ProtoWriter, how: string, value: JsonValue): void {
  const choice = CHOICES[how];
  if (choice !== undefined) writeField(writer, choice(value), value);
  else if (how === 'any') writer.text(2, yamlText(value));
  else if (isObject(value)) writeMessage(writer, MESSAGES[how] as Message, value);
}

function writeMessage(writer: ProtoWriter, message: Message, value: JsonObject): void {
  const { fields, extensions, entries } = message;
  for (const [key, below] of Object.entries(value)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (entries !== undefined) writeNamed(writer, entries, key, below);
    else if (field !== undefined) writeField(writer, field, below);
    else if (extensions !== undefined && key.startsWith('x-'))
      writeNamed(writer, [extensions, 'any'], key, below);
  }
}

function writeNamed(writer: ProtoWriter, [number, how]: Field, key: string, value: JsonValue): void {
  writer.message(number, () => {
    writer.text(1, key);
    writer.message(2, () => write(writer, how, value));
  });
}

function writeField(writer: ProtoWriter, [number, how, repeated]: Field, value: JsonValue): void {
  if (repeated !== undefined) {
    for (const one of value as JsonValue[]) writeField(writer, [number, how], one);
  } else if (how === 'text') writer.text(number, value as string);
  else if (how === 'texts') for (const one of [value].flat()) writer.text(number, one as string);
  else if (how === 'bool') writer.bool(number, value === true);
  else if (how === 'integer') writer.integer(number, Math.max(0, Number(value)));
  else if (how === 'number') writer.double(number, Number(value));
  else writer.message(number, () => write(writer, how, value));
}

/** JSON is valid YAML, except for a few characters that YAML requires to be escaped. */
function yamlText(value: JsonValue): string {
  const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\ufeff\ufffe\uffff]/g, escaped);
}
