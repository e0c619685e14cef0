import { apiVersionOf, type KindInfo } from './model/kinds.ts';
import type { KubeObject } from './model/object-meta.ts';
import { networkError, type RequestSubject } from './transport/kube-errors.ts';

/** @throws TransientError for a response that is not an object of the API */
export function requireObject(value: unknown, request: RequestSubject): KubeObject {
  const object = value as KubeObject | null;
  // Reviews (SubjectAccessReview and others) are answered without a name.
  if (typeof object === 'object' && typeof object?.metadata === 'object' && object.metadata !== null)
    return object;
  throw networkError('the response is not an object with metadata', request);
}

interface ListBody {
  /** Ends in `List`. */
  readonly kind: string;
  readonly apiVersion?: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly KubeObject[];
}

/** A response that is not a complete list is an error: an empty list must never come from a misread response. */
export function requireList(value: unknown, request: RequestSubject): ListBody {
  const list = value as { kind?: unknown; metadata?: { resourceVersion?: unknown }; items?: unknown } | null;
  const complete =
    typeof list === 'object' &&
    typeof list?.kind === 'string' &&
    list.kind.endsWith('List') &&
    typeof list.metadata?.resourceVersion === 'string' &&
    // Go servers send `null` for an empty slice.
    (Array.isArray(list.items) || list.items === null);
  if (!complete)
    throw networkError('the response is not a list with metadata.resourceVersion and items', request);
  return { ...(list as ListBody), items: (list as { items: ListBody['items'] | null }).items ?? [] };
}

/**
 * The type of items that do not name theirs: those of built-in kinds. The list tells it; a caller may know only the
 * resource.
 */
export function itemTypeOf(
  { kind, apiVersion }: ListBody,
  resource: KindInfo,
): { readonly apiVersion: string; readonly kind: string } {
  const itemKind = kind.slice(0, -'List'.length);
  return {
    apiVersion: apiVersion ?? apiVersionOf(resource),
    kind: itemKind === '' ? resource.kind : itemKind,
  };
}
