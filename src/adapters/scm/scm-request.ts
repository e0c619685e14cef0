import { errorText, InputError, TransientError } from '../../core/errors.ts';

export interface ScmRequest {
  readonly url: string;
  readonly method: 'POST' | 'GET' | 'PUT' | 'PATCH';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** What a failure is about. */
  readonly subject: string;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 15_000;

/** One request to a forge's API; JSON both ways. TransientError for network, 429 and 5xx, InputError for other refusals. */
export async function scmRequest(request: ScmRequest): Promise<unknown> {
  const { url, method, headers, body, subject, signal } = request;
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers: {
        'user-agent': 'berth',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal === undefined ? [] : [signal])]),
    });
  } catch (cause) {
    throw new TransientError(`the forge cannot be reached: ${errorText(cause)}`, {
      code: 'scm.network',
      subject,
      cause,
    });
  }
  const text = await response.text().catch(() => '');
  if (response.ok) return text === '' ? {} : parseAnswer(text, subject);
  const said = `the forge answered ${response.status}: ${text.slice(0, 200)}`;
  if (response.status === 429 || response.status >= 500) {
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
    throw new TransientError(said, { code: 'scm.unavailable', subject, retryAfterMs });
  }
  throw new InputError(said, {
    code: response.status === 401 || response.status === 403 ? 'scm.auth' : 'scm.refused',
    subject,
    hint: 'check the token and what it may do',
  });
}

function parseAnswer(text: string, subject: string): unknown {
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
