import type { KubeObject } from '@berth/kube/model/object-meta';
import { BerthError, ConflictError, errorText, InputError } from '@berth/runtime/errors';

/**
 * The message of the API server with additions of the client, or of the error, for conditions. No
 * decision depends on it.
 */
export function failureText(error: unknown): string {
  const cause = error instanceof BerthError ? error.cause : undefined;
  const message =
    typeof cause === 'object' && cause !== null ? (cause as { message?: unknown }).message : undefined;
  const text = errorText(error);
  return typeof message === 'string' && message !== ''
    ? text.slice(Math.max(0, text.indexOf(message)))
    : text;
}

export function isRefusal(error: unknown, reason: 'notfound' | 'invalid' | 'forbidden'): boolean {
  return error instanceof InputError && error.code === `kube.${reason}`;
}

/** Plural of the refused resource, which may differ from the requested one; undefined: unknown. */
export function refusedResource(error: unknown): string | undefined {
  if (!(error instanceof BerthError)) return undefined;
  return (error.cause as { details?: { kind?: string } } | undefined)?.details?.kind;
}

/** Name of the namespace that is missing, where that is why something could not be written. */
export function missingNamespace(error: unknown): string | undefined {
  if (!isRefusal(error, 'notfound') || refusedResource(error) !== 'namespaces') return undefined;
  return ((error as BerthError).cause as { details?: { name?: string } }).details?.name;
}

/** Whether something could not be written because its namespace is being deleted. */
export function endingNamespace(error: unknown): boolean {
  if (!isRefusal(error, 'forbidden')) return false;
  const { details } = ((error as BerthError).cause ?? {}) as {
    details?: { causes?: readonly { reason?: string }[] };
  };
  return details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false;
}

export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ConflictError && error.code === 'kube.alreadyexists';
}

/** Whether a server-side apply failed because other managers own the fields. A version conflict does not count. */
export function isApplyConflict(error: unknown): boolean {
  if (!(error instanceof ConflictError)) return false;
  const causes = (error.cause as { details?: { causes?: readonly { reason?: string }[] } } | undefined)
    ?.details?.causes;
  return causes?.some((cause) => cause.reason === 'FieldManagerConflict') ?? false;
}

/** The result of applying one manifest. */
export type ApplyOutcome =
  | { readonly kind: 'applied'; readonly object: KubeObject | undefined; readonly wrote: boolean }
  | {
      readonly kind: 'failed';
      readonly problem: string;
      readonly ignoreField: boolean;
      /** `soon`: with growing delay. `minute`: rights may be granted. `never`: until something changes. */
      readonly retry: 'soon' | 'minute' | 'never';
      /** The object was changed concurrently: retry immediately. */
      readonly conflict: boolean;
      /** The namespace that the object is to be in, when the cluster does not have it. */
      readonly missingNamespace?: string | undefined;
    };
