import { GenerateError } from '../failure/failures.ts';
import { kindOf } from '../typed/decode-typed.ts';
import { type JsonValue, setKey } from '../json/json-value.ts';
import { type Params, toParams } from '../params/params.ts';
import type { RawJson } from '../json/raw-json.ts';
import type { TypedObject } from '../typed/typed-value.ts';
import { parseYamlAsGo } from '../yaml/parse-yaml.ts';
import type { GeneratorContext } from './generator-context.ts';

/**
 * The list generator: its elements, plus those in `elementsYaml`. With goTemplate off, every value
 * of an element becomes text.
 * @throws GenerateError
 */
export function generateList(generator: TypedObject, { mode }: GeneratorContext): Params[] {
  const elements = (generator['elements'] ?? []) as readonly RawJson[];
  const yaml = (generator['elementsYaml'] ?? '') as string;
  return [
    ...elements.map((element) => {
      const params = readElement(element);
      return mode.goTemplate ? params : textsOf(params);
    }),
    ...(yaml === '' ? [] : readElementsYaml(yaml)),
  ];
}

function readElement({ value, rewritten }: RawJson): Params {
  if (value === null && !rewritten)
    throw new GenerateError('error unmarshling list element unexpected end of JSON input');
  return asParams(value, 'error unmarshling list element json');
}

function asParams(value: JsonValue, prefix: string): Params {
  if (value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value))
    return toParams(value as { readonly [key: string]: JsonValue });
  throw new GenerateError(
    `${prefix}: cannot unmarshal ${kindOf(value)} into Go value of type map[string]interface {}`,
  );
}

function textsOf(element: Params): Params {
  const params: Params = {};
  for (const [key, value] of Object.entries(element)) {
    if (key !== 'values') setKey(params, key, asText(value));
    else if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new GenerateError('error parsing values map');
    else for (const [name, item] of Object.entries(value)) setKey(params, `values.${name}`, asText(item));
  }
  return params;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  // Argo CD wraps an error that is nil.
  throw new GenerateError('error parsing value as string %!w(<nil>)');
}

const YAML_PREFIX = 'error unmarshling decoded ElementsYaml';

function readElementsYaml(yaml: string): readonly Params[] {
  const parsed = parseYamlAsGo(yaml);
  if (!parsed.ok) throw new GenerateError(`${YAML_PREFIX} error converting YAML to JSON: ${parsed.error}`);
  const prefix = `${YAML_PREFIX} error unmarshaling JSON: while decoding JSON: json`;
  const { value } = parsed;
  if (value === null) return [];
  if (!Array.isArray(value))
    throw new GenerateError(
      `${prefix}: cannot unmarshal ${kindOf(value)} into Go value of type []map[string]interface {}`,
    );
  return value.map((item: JsonValue) => asParams(item, prefix));
}
