import { errorText, InputError, TransientError } from '@berth/runtime/errors';
import { boundedText } from '@berth/runtime/http/bounded-text';

const TIMEOUT_MS = 15_000;
/** Large enough for thousands of clusters with long labels. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

export interface PrometheusQuery {
  /** `https://HOST[:PORT][/PREFIX]` */
  readonly server: string;
  readonly query: string;
  /** Bearer token. */
  readonly token: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * One instant query. Source: https://prometheus.io/docs/prometheus/latest/querying/api/
 *
 * @returns the JSON of the response, also for refused queries
 * @throws TransientError when the server cannot be reached or is overloaded, InputError when it
 * denies access
 */
export async function queryPrometheus({ server, query, token, signal }: PrometheusQuery): Promise<unknown> {
  const details = { code: 'prometheus.unavailable', subject: server };
  let status: number;
  let text: string;
  try {
    const response = await fetch(`${server.replace(/\/+$/, '')}/api/v1/query`, {
      method: 'POST',
      headers: {
        'user-agent': 'berth',
        'content-type': 'application/x-www-form-urlencoded',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: new URLSearchParams({ query }).toString(),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    [status, text] = [response.status, await boundedText(response, MAX_RESPONSE_BYTES)];
  } catch (cause) {
    const why =
      cause instanceof Error && cause.cause !== undefined ? errorText(cause.cause) : errorText(cause);
    throw new TransientError(`cannot be queried: ${why}`, { ...details, cause });
  }
  if (status === 401 || status === 403)
    throw new InputError(`answered ${status}`, {
      code: 'prometheus.auth',
      subject: server,
      hint: 'check --prometheus-token-file and what the token may read',
    });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TransientError(`answered ${status} with something that is not JSON`, { ...details, cause });
  }
}
