import { type ErrorDetails, errorText, InputError, TransientError } from '@berth/runtime/errors';
import { boundedText } from '@berth/runtime/http/bounded-text';

export interface ForgeRequest {
  readonly url: string;
  readonly method: 'POST' | 'GET' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The subject of errors. */
  readonly subject: string;
  readonly signal?: AbortSignal | undefined;
}

export interface ForgeResponse {
  /** JSON; `{}` for an empty response. */
  readonly value: unknown;
  readonly headers: Headers;
}

const TIMEOUT_MS = 15_000;
/** Large enough for a hundred pull requests or comments of full length. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/**
 * One JSON request to the API of a forge.
 * @throws TransientError for network errors, rate limits and 5xx; InputError for other refusals: `scm.auth` for 401 and
 *   403, `scm.moved` for redirects, `scm.not-found` for 404 and 410, `scm.conflict` for 409, otherwise `scm.refused`
 */
export async function forgeResponse(request: ForgeRequest): Promise<ForgeResponse> {
  const { url, method, headers, body, subject, signal } = request;
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method,
      headers: {
        'user-agent': 'berth',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // The token goes to the address that is set, and to no other.
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal === undefined ? [] : [signal])]),
    });
    text = await boundedText(response, MAX_RESPONSE_BYTES);
  } catch (cause) {
    throw new TransientError(`the forge cannot be reached at ${new URL(url).origin}: ${networkText(cause)}`, {
      code: 'scm.network',
      subject,
      hint: 'check apiUrl, which Berth derives from the URL of the source if it is not set',
      cause,
    });
  }
  // Azure DevOps responds with 203 and a sign-in page, which is not what the status means in HTTP.
  if (response.status === 203) throw new InputError('the forge asks to sign in', authDetails(subject));
  if (response.ok) return { value: text === '' ? {} : parseJson(text, subject), headers: response.headers };
  throw refusal(response, text, subject);
}

/** fetch says only that it failed. Its cause says why. */
function networkText(error: unknown): string {
  return errorText(error instanceof Error && error.cause instanceof Error ? error.cause : error);
}

/** The response of forgeResponse without its headers. */
export async function forgeRequest(request: ForgeRequest): Promise<unknown> {
  return (await forgeResponse(request)).value;
}

function refusal({ status, headers }: Response, text: string, subject: string): InputError | TransientError {
  const problem = `the forge answered ${status}: ${text.slice(0, 200).trim()}`;
  // GitHub also responds with 403 when the rate limit is exceeded.
  const isLimited = status === 429 || (status === 403 && isRateLimit(headers));
  if (isLimited || status >= 500)
    return new TransientError(problem, { code: 'scm.unavailable', subject, retryAfterMs: waitMsOf(headers) });
  if (status >= 300 && status < 400)
    return new InputError(`${problem}; it names ${headers.get('location') ?? 'no address'}`, {
      ...{ code: 'scm.moved', subject },
      hint: 'set the new address of the repository: it was renamed or moved, or apiUrl is that of another server',
    });
  const details = authDetails(subject);
  if (status === 401 || status === 403) return new InputError(problem, details);
  return new InputError(problem, { ...details, code: CODES.get(status) ?? 'scm.refused' });
}

const CODES = new Map([
  [404, 'scm.not-found'],
  [409, 'scm.conflict'],
  [410, 'scm.not-found'],
]);

function authDetails(subject: string): ErrorDetails {
  return { code: 'scm.auth', subject, hint: 'check the token and what it may do' };
}

function isRateLimit(headers: Headers): boolean {
  return headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0';
}

/** `Retry-After` in seconds, or else the time until `X-RateLimit-Reset` by the clock of the forge. */
function waitMsOf(headers: Headers): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  if (Number.isFinite(seconds)) return Math.max(seconds, 0) * 1000;
  const resetMs = Number(headers.get('x-ratelimit-reset') ?? Number.NaN) * 1000;
  const nowMs = Date.parse(headers.get('date') ?? '');
  const waitMs = resetMs - nowMs;
  return Number.isFinite(waitMs) ? Math.max(waitMs, 0) : undefined;
}

function parseJson(text: string, subject: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TransientError('the forge answered with something that is not JSON', {
      code: 'scm.answer',
      subject,
      cause,
    });
  }
}
