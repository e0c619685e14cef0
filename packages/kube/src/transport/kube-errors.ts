import { type BerthError, ConflictError, InputError, TransientError } from '@berth/runtime/errors';

/** The fields of meta/v1 Status that Berth reads. */
export interface KubeStatus {
  readonly kind: 'Status';
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly {
      readonly reason?: string;
      readonly field?: string;
      readonly message?: string;
    }[];
  };
}

/** The request that failed, for messages. */
export interface RequestSubject {
  readonly method: string;
  /** The path without server and query. */
  readonly path: string;
  /** The command that prints the rights of this process. */
  readonly rightsCommand?: string | undefined;
}

/**
 * The error for a refused request. Its class follows from the HTTP status, and its code from the reason of the Status.
 * The Status becomes the `cause`.
 * Source of the reasons: k8s.io/apimachinery meta/v1 StatusReason.
 */
export function errorForStatus(
  httpStatus: number,
  status: KubeStatus | undefined,
  request: RequestSubject,
  retryAfterSeconds?: number,
): BerthError {
  const reason = reasonOf(httpStatus, status);
  const details = { code: `kube.${reason}`, subject: `${request.method} ${request.path}`, cause: status };
  // The message of the server names the missing right.
  const rights =
    reason === 'forbidden' && request.rightsCommand !== undefined
      ? `; ${request.rightsCommand}, with the same flags, prints the rights that are needed`
      : '';
  const problem = `the server answered ${httpStatus}: ${status?.message ?? 'no explanation'}${rights}`;
  if (httpStatus === 409) return new ConflictError(problem, details);
  if (isSchemaMismatch(httpStatus, status))
    return new InputError(problem, { ...details, code: SCHEMA_MISMATCH, hint: SCHEMA_HINT });
  if (httpStatus === 429 || httpStatus >= 500) {
    const seconds = retryAfterSeconds ?? status?.details?.retryAfterSeconds;
    return new TransientError(problem, {
      ...details,
      retryAfterMs: seconds === undefined ? undefined : seconds * 1000,
    });
  }
  return new InputError(problem, { ...details, hint: HINTS[reason] });
}

/** The error code for an applied object that does not match the schema of its kind. */
export const SCHEMA_MISMATCH = 'kube.schemamismatch';

const SCHEMA_HINT = 'correct the field; the hub rejects the complete object until then';

/**
 * Whether an applied object does not match the schema of its kind: it has an unknown field, a wrong type, or two items
 * with the same key. The server responds with 500 without a reason, as it does for a temporary failure of its storage. Only
 * the start of the message distinguishes the two. Any other message counts as a temporary failure.
 * Source: k8s.io/apimachinery `util/managedfields/internal/structuredmerge.go` (Apply), apiserver
 * `endpoints/handlers/responsewriters/status.go` (an error without a Status becomes a 500 without a reason).
 */
function isSchemaMismatch(httpStatus: number, status: KubeStatus | undefined): boolean {
  if (httpStatus !== 500 || (status?.reason ?? '') !== '') return false;
  return status?.message?.startsWith('failed to create typed patch object (') === true;
}

/** The connection failed, or the response is not one of a Kubernetes API. */
export function networkError(problem: string, request: RequestSubject, cause?: unknown): TransientError {
  return new TransientError(problem, {
    code: 'kube.network',
    subject: `${request.method} ${request.path}`,
    cause,
  });
}

/**
 * Whether the server answered 401, 403 or 404. The missing right, object, namespace or kind may exist a moment later,
 * so the same request is worth a retry.
 */
export function mayBeAllowedLater(error: unknown): boolean {
  return error instanceof InputError && REFUSALS.has(error.code);
}

const REFUSALS: ReadonlySet<string> = new Set(['kube.unauthorized', 'kube.forbidden', 'kube.notfound']);

export interface FieldConflict {
  readonly field: string;
  /** The text of the server: `conflict with "kubectl" using apps/v1`. */
  readonly message: string;
}

/** The fields with conflicts in a server-side apply; empty for any other error. */
export function fieldConflicts(error: unknown): readonly FieldConflict[] {
  if (!(error instanceof ConflictError)) return [];
  const causes = (error.cause as KubeStatus | undefined)?.details?.causes ?? [];
  return causes
    .filter((cause) => cause.reason === 'FieldManagerConflict')
    .map((cause) => ({ field: cause.field ?? '', message: cause.message ?? '' }));
}

/** Parses a Status without assumptions: proxies answer with HTML, and responses may be truncated. */
export function parseKubeStatus(value: unknown): KubeStatus | undefined {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'Status'
    ? (value as KubeStatus)
    : undefined;
}

function reasonOf(httpStatus: number, status: KubeStatus | undefined): string {
  if (httpStatus === 410) return 'expired';
  // The reason is a timeout: the server waited for a version that it does not have, and may never have.
  if (status?.details?.causes?.some((cause) => cause.reason === 'ResourceVersionTooLarge') === true)
    return 'resourceversiontoolarge';
  const reason = status?.reason;
  if (typeof reason === 'string' && /^[A-Za-z]+$/.test(reason)) return reason.toLowerCase();
  return REASON_BY_STATUS[httpStatus] ?? `http${httpStatus}`;
}

const REASON_BY_STATUS: Readonly<Record<number, string>> = {
  400: 'badrequest',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notfound',
  405: 'methodnotallowed',
  409: 'conflict',
  413: 'requestentitytoolarge',
  415: 'unsupportedmediatype',
  422: 'invalid',
  429: 'toomanyrequests',
  500: 'internalerror',
  503: 'serviceunavailable',
  504: 'timeout',
};

const HINTS: Readonly<Record<string, string>> = {
  unauthorized: 'the credentials in the kubeconfig are not accepted (expired, or for another cluster)',
  forbidden: 'grant the missing permission to the user in the kubeconfig (kubectl auth can-i --list)',
  notfound: 'the object, its namespace or its CustomResourceDefinition does not exist on this server',
};
