import { GenerateError } from '../failure/failures.ts';
import { goJsonString } from '../json/go-json-text.ts';
import type { Params } from '../params/params.ts';
import type { PluginResponse, PluginRequest } from '../inputs/generator-inputs.ts';
import type { GeneratorContext } from './generator-context.ts';
import { readApiError, readParameters } from './plugin-response.ts';
import { parseUrlAsGo } from './plugin-url.ts';

export interface PluginConfig {
  readonly baseUrl: string;
  /** Whole seconds. 0 means the 30 seconds of Argo CD. A negative number means no limit. */
  readonly timeoutSeconds: number;
}

const DEFAULT_TIMEOUT_SECONDS = 30;
const MAX_REDIRECTS = 10;

/**
 * Calls a plugin as Argo CD does, including redirects and time limits.
 * @throws GenerateError
 */
export function requestParameters(context: GeneratorContext, config: PluginConfig, body: string): Params[] {
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

const BODY_TIMEOUT = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';

function header({ headers }: PluginResponse, name: string): string | undefined {
  return Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];
}
