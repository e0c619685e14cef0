import { compareText } from '@berth/runtime/text/compare-text';
import { GenerateError, withPrefix } from '../failure/failures.ts';
import type { PluginResponse, PluginRequest } from '../inputs/generator-inputs.ts';
import { goJsonString } from '@berth/runtime/json/go-json-text';
import type { RawJson } from '../json/go-json-text.ts';
import { setKey } from '../json/json-value.ts';
import { type JsonNode, parseFirstJson, toJsonValue, trailingProblem } from '../json/parse-go-json.ts';
import {
  type Params,
  type ParamValue,
  PluginMap,
  toParamValue,
  flattenParams,
  goText,
} from '../params/params.ts';
import { checkOptions } from '../params/replace-text.ts';
import type { TypedObject } from '../types/go-type.ts';
import { type GeneratorContext, appendTemplatedValues } from './generator-context.ts';

type Inputs = Readonly<Record<string, RawJson>>;

/**
 * The plugin generator. It makes a parameter set for each object in the response of the plugin.
 * Source: argo-cd applicationset/generators/plugin.go.
 * @throws GenerateError, GoPanic
 */
export function generatePlugin(generator: TypedObject, context: GeneratorContext): Params[] {
  const inputs = ((generator['input'] ?? {}) as TypedObject)['parameters'] as Inputs | undefined;
  const config = withPrefix('error getting plugin from generator', () => pluginConfig(generator, context));
  const found = withPrefix('error listing params', () =>
    requestParameters(context, config, requestBody(context.applicationSet, inputs)),
  );
  const shared = new PluginMap();
  for (const [key, value] of Object.entries(inputs ?? {})) setKey(shared, key, value as ParamValue);
  const values = generator['values'] as TypedObject | undefined;
  const { mode } = context;
  return withPrefix('error generating params', () =>
    found.map((object) => {
      const params = mode.goTemplate ? object : flatTexts(object);
      const input = new PluginMap();
      input['parameters'] = shared;
      params['generator'] = { input };
      if (Object.keys(values ?? {}).length > 0) checkOptions(mode);
      appendTemplatedValues(values, params, mode);
      return params;
    }),
  );
}

function flatTexts(object: Params): Params {
  const texts: Params = {};
  for (const [key, value] of Object.entries(flattenParams(object, false))) setKey(texts, key, goText(value));
  return texts;
}

/**
 * The body of the request. The keys of the parameters are sorted. HTML is not escaped, except where
 * a matrix generator escaped it.
 */
function requestBody(applicationSet: string, inputs: Inputs | undefined): string {
  const entries = Object.entries(inputs ?? {}).sort(([a], [b]) => compareText(a, b));
  const parameters = entries.map(([key, { text }]) => `${goJsonString(key, false)}:${text}`);
  const input = parameters.length === 0 ? '{}' : `{"parameters":{${parameters.join(',')}}}`;
  return `{"applicationSetName":${goJsonString(applicationSet, false)},"input":${input}}\n`;
}

function pluginConfig(generator: TypedObject, { inputs }: GeneratorContext): PluginConfig {
  const name = (((generator['configMapRef'] ?? {}) as TypedObject)['name'] ?? '') as string;
  const config = withPrefix('error fetching ConfigMap', () => {
    const data = inputs.configMap(name);
    if (data === undefined) throw new GenerateError(`ConfigMap ${JSON.stringify(name)} not found`);
    for (const key of ['baseUrl', 'token'])
      if ((data[key] ?? '') === '') throw new GenerateError(`${key} not found in ConfigMap`);
    return data;
  });
  checkToken(config['token'] ?? '', inputs);
  return {
    baseUrl: config['baseUrl'] ?? '',
    timeoutSeconds: config['requestTimeout'] === undefined ? 0 : parseSeconds(config['requestTimeout']),
  };
}

function checkToken(reference: string, inputs: GeneratorContext['inputs']): void {
  const prefix = 'error fetching Secret token';
  if (!reference.startsWith('$'))
    throw new GenerateError(
      `${prefix}: token is empty, or does not reference a secret key starting with '$': ${reference}`,
    );
  const name = reference.includes(':') ? (reference.split(':')[0] ?? '').slice(1) : 'argocd-secret';
  if (inputs.secret(name) === undefined)
    throw new GenerateError(
      `${prefix}: error fetching secret ${inputs.namespace}/${name}: Secret ${JSON.stringify(name)} not found`,
    );
}

function parseSeconds(text: string): number {
  const prefix = `error set requestTimeout : strconv.Atoi: parsing ${JSON.stringify(text)}`;
  if (!/^[+-]?\d+$/.test(text)) throw new GenerateError(`${prefix}: invalid syntax`);
  const seconds = BigInt(text.replace(/^\+/, ''));
  if (seconds > 2n ** 63n - 1n || seconds < -(2n ** 63n))
    throw new GenerateError(`${prefix}: value out of range`);
  return Number(seconds);
}

interface PluginConfig {
  readonly baseUrl: string;
  /** Whole seconds. 0 means the 30 seconds of Argo CD. A negative number means no limit. */
  readonly timeoutSeconds: number;
}

/**
 * Calls a plugin as Argo CD does, including redirects and time limits.
 * @throws GenerateError
 */
function requestParameters(context: GeneratorContext, config: PluginConfig, body: string): Params[] {
  const { baseUrl } = config;
  const url = `${baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`}api/v1/getparams.execute`;
  const parsed = parseUrlAsGo(url);
  if ('error' in parsed)
    throw new GenerateError(
      `NewRequest returned unexpected error: parse ${goJsonString(url, false)}: ${parsed.error}`,
    );
  const fail = (message: string): GenerateError =>
    new GenerateError(`error get api '${context.applicationSet}': ${message}`);
  const failPost = (message: string, at = parsed.text): GenerateError =>
    fail(`Post ${goJsonString(at, false)}: ${message}`);
  if (parsed.scheme !== 'http' && parsed.scheme !== 'https')
    throw failPost(`unsupported protocol scheme ${JSON.stringify(parsed.scheme)}`);
  if (parsed.host === '') throw failPost('http: no Host in request URL');
  const first: PluginRequest = { method: 'POST', host: parsed.host, path: parsed.path, body };
  const response = followRedirects(context, first, parsed.scheme, failPost);
  return readPluginResponse(response, config.timeoutSeconds, { fail, failPost });
}

type Fail = (message: string, at?: string) => GenerateError;

const MAX_REDIRECTS = 10;

/**
 * Follows redirects. After 301 to 303 the request becomes a GET without a body. After 307 and 308
 * the same request is sent again.
 */
function followRedirects(
  { inputs }: GeneratorContext,
  first: PluginRequest,
  scheme: string,
  failPost: Fail,
): PluginResponse {
  let request = first;
  for (let redirects = 0; ; redirects += 1) {
    const response = inputs.callPlugin(request);
    const location = header(response, 'location');
    const keepsMethod = response.status === 307 || response.status === 308;
    if (location === undefined || !(keepsMethod || [301, 302, 303].includes(response.status)))
      return response;
    if (redirects + 1 >= MAX_REDIRECTS)
      throw failPost(`stopped after ${String(MAX_REDIRECTS)} redirects`, location);
    const target = new URL(location, `${scheme}://${request.host}${request.path}`);
    request = {
      method: keepsMethod ? request.method : 'GET',
      host: target.host,
      path: `${target.pathname}${target.search}`,
      body: keepsMethod ? request.body : '',
    };
  }
}

const DEFAULT_TIMEOUT_SECONDS = 30;
const BODY_TIMEOUT = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';

function readPluginResponse(
  response: PluginResponse,
  timeoutSeconds: number,
  { fail, failPost }: { readonly fail: Fail; readonly failPost: Fail },
): Params[] {
  const limitMs = 1000 * (timeoutSeconds === 0 ? DEFAULT_TIMEOUT_SECONDS : timeoutSeconds);
  const { status, body, delayMs = 0, bodyDelayMs = 0 } = response;
  if (limitMs > 0 && delayMs >= limitMs)
    throw failPost('context deadline exceeded (Client.Timeout exceeded while awaiting headers)');
  if (Number(header(response, 'content-length') ?? 0) > Buffer.byteLength(body)) throw failPost('EOF');
  const isInterrupted = limitMs > 0 && delayMs + bodyDelayMs >= limitMs;
  if (status < 200 || status > 299) {
    const prefix = `API error with status code ${String(status)}: `;
    throw fail(isInterrupted ? `${prefix}${BODY_TIMEOUT}` : `${prefix}${readApiError(body)}`);
  }
  const received = isInterrupted
    ? Buffer.from(body)
        .subarray(0, Math.floor(Buffer.byteLength(body) / 2))
        .toString()
    : body;
  const result = readParameters(received, isInterrupted ? BODY_TIMEOUT : undefined);
  if ('error' in result) throw fail(result.error);
  return result.parameters;
}

function header({ headers }: PluginResponse, name: string): string | undefined {
  return Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];
}

type GoUrl =
  | {
      readonly scheme: string;
      /** The host, with the port if there is one. */
      readonly host: string;
      /** The path as it is sent, with the query. */
      readonly path: string;
      /** The address as Go writes it. */
      readonly text: string;
    }
  | { readonly error: string };

/** Splits a URL as the Go package net/url does, as far as URLs of plugins need it. */
function parseUrlAsGo(url: string): GoUrl {
  if (/[\u0000-\u001f\u007f]/.test(url)) return { error: 'net/url: invalid control character in URL' };
  const [withoutFragment = ''] = url.split('#');
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(withoutFragment)?.[1];
  if (scheme === undefined && withoutFragment.startsWith(':')) return { error: 'missing protocol scheme' };
  const rest = scheme === undefined ? withoutFragment : withoutFragment.slice(scheme.length + 1);
  const [beforeQuery = '', ...query] = rest.split('?');
  if (!beforeQuery.startsWith('/')) {
    if (scheme !== undefined) return { scheme: scheme.toLowerCase(), host: '', path: rest, text: url };
    if ((beforeQuery.split('/')[0] ?? '').includes(':'))
      return { error: 'first path segment in URL cannot contain colon' };
  }
  const authority = beforeQuery.startsWith('//') ? (/^\/\/[^/]*/.exec(beforeQuery)?.[0] ?? '').slice(2) : '';
  const path = beforeQuery.startsWith('//') ? beforeQuery.slice(2 + authority.length) : beforeQuery;
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const problem = hostProblem(host) ?? escapeProblem(path);
  if (problem !== undefined) return { error: problem };
  const queryText = query.length === 0 ? '' : `?${query.join('?')}`;
  const sentPath = path.replace(/[^!-~]/gu, (character) => encodeURIComponent(character));
  const text = scheme === undefined ? url : `${scheme.toLowerCase()}://${authority}${sentPath}${queryText}`;
  return {
    scheme: (scheme ?? '').toLowerCase(),
    host,
    path: `${sentPath === '' ? '/' : sentPath}${queryText}`,
    text,
  };
}

function hostProblem(host: string): string | undefined {
  const bad = /[ "<>\\^`{|}]/.exec(host)?.[0];
  if (bad !== undefined) return `invalid character ${JSON.stringify(bad)} in host name`;
  const port = host.startsWith('[') ? host.slice(host.indexOf(']') + 1) : (/:.*$/.exec(host)?.[0] ?? '');
  if (port !== '' && !/^:\d*$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  return escapeProblem(host);
}

function escapeProblem(text: string): string | undefined {
  const wrong = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text)?.[0];
  return wrong === undefined ? undefined : `invalid URL escape ${JSON.stringify(wrong)}`;
}

/**
 * The part of an error response that Argo CD reports: its `message`, otherwise its `error`,
 * otherwise nothing. If the body is not a JSON object, Argo CD reports the body.
 */
function readApiError(body: string): string {
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
function readParameters(
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
