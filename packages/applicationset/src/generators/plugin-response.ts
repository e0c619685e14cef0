import { type JsonNode, parseFirstJson, toJsonValue, trailingProblem } from '../json/parse-go-json.ts';
import { setKey } from '../json/json-value.ts';
import { type Params, toParamValue } from '../params/params.ts';

/**
 * The part of an error response that Argo CD reports: its `message`, otherwise its `error`,
 * otherwise nothing. If the body is not a JSON object, Argo CD reports the body.
 */
export function readApiError(body: string): string {
  const parsed = parseFirstJson(body);
  if ('problem' in parsed || trailingProblem(body, parsed.end) !== undefined) return body;
  const value = toJsonValue(parsed.node);
  if (value === null) return '';
  if (typeof value !== 'object' || Array.isArray(value)) return body;
  const { message, error } = value as { readonly message?: unknown; readonly error?: unknown };
  return typeof message === 'string' ? message : typeof error === 'string' ? error : '';
}

/**
 * Reads `{output: {parameters: [...]}}` as Go does. Names match in any letter case. An empty body
 * has no parameters. Text after the first value is ignored.
 * @param interruption why the body ends here, if it was not read to its end
 */
export function readParameters(
  body: string,
  interruption: string | undefined,
): { readonly parameters: Params[] } | { readonly error: string } {
  const parsed = parseFirstJson(body);
  if ('node' in parsed) return decodeResponse(parsed.node, body.slice(0, readSoFar(parsed.end)));
  if (parsed.problem === 'syntax')
    return { error: `${parsed.message}: ${body.slice(0, readSoFar(parsed.readTo))}` };
  if (interruption !== undefined) return { error: `${interruption}: ${body}` };
  return parsed.empty ? { parameters: [] } : { error: `unexpected EOF: ${body}` };
}

/**
 * How many bytes Go has read when it needs this many. It reads 512 bytes first, and more than twice
 * as many each time this is not enough.
 */
function readSoFar(needed: number): number {
  let size = 512;
  while (size <= needed) size = 2 * size + 512;
  return size;
}

function decodeResponse(
  root: JsonNode,
  text: string,
): { readonly parameters: Params[] } | { readonly error: string } {
  const parameters: Params[] = [];
  let problem: string | undefined;
  const refuse = (node: JsonNode, where: string): void => {
    problem ??= `json: cannot unmarshal ${nodeKind(node)} into Go ${where}`;
  };
  let count = 0;
  for (const outputs of fieldsNamed(root, 'output', 'value of type plugin.ServiceResponse', refuse))
    for (const lists of fieldsNamed(
      outputs,
      'parameters',
      'struct field ServiceResponse.output of type plugin.Output',
      refuse,
    )) {
      const field = 'struct field Output.output.parameters of type';
      if (isNull(lists)) {
        parameters.length = 0;
        count = 0;
      } else if (lists.kind !== 'array') refuse(lists, `${field} []map[string]interface {}`);
      else {
        // If a list occurs twice, the second overwrites the first item by item.
        lists.items.forEach((item, index) => {
          if (isNull(item)) parameters[index] = {};
          else if (item.kind !== 'object') refuse(item, `${field} map[string]interface {}`);
          else parameters[index] = fill(parameters[index] ?? {}, item.entries);
        });
        count = lists.items.length;
      }
    }
  return problem === undefined
    ? { parameters: parameters.slice(0, count) }
    : { error: `${problem}: ${text}` };
}

function fill(params: Params, entries: readonly (readonly [string, JsonNode])[]): Params {
  for (const [key, node] of entries) setKey(params, key, toParamValue(toJsonValue(node)));
  return params;
}

function fieldsNamed(
  node: JsonNode,
  name: string,
  whatItIs: string,
  refuse: (node: JsonNode, where: string) => void,
): readonly JsonNode[] {
  if (isNull(node)) return [];
  if (node.kind === 'object')
    return node.entries.flatMap(([key, item]) => (key.toLowerCase() === name ? [item] : []));
  refuse(node, whatItIs);
  return [];
}

function isNull(node: JsonNode): boolean {
  return node.kind === 'literal' && node.value === null;
}

function nodeKind(node: JsonNode): string {
  if (node.kind !== 'literal') return node.kind;
  return typeof node.value === 'boolean' ? 'bool' : 'string';
}
