import { InputError } from '@berth/runtime/errors';

/** The attributes of a request, as authorization uses them (k8s.io/apiserver RequestInfo). */
export type RequestInfo = ResourceRequest | PathRequest;

export interface ResourceRequest {
  readonly kind: 'resource';
  /** get, list, watch, create, update, patch, delete, deletecollection */
  readonly verb: string;
  readonly method: string;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** '' for the resource itself. */
  readonly subresource: string;
  /** '' for cluster-scoped requests and for all namespaces. */
  readonly namespace: string;
  /** '' for collections. */
  readonly name: string;
  /** The path after the subresource `proxy`. */
  readonly rest: string;
}

export interface PathRequest {
  readonly kind: 'path';
  /** The method in lower case. */
  readonly verb: string;
  readonly method: string;
  readonly path: string;
}

/** Subresources of a Namespace. Any other third segment is a resource in the namespace. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/**
 * Parses the path of a request, independent of the served resources.
 * @throws InputError for a broken percent escape
 */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = decodeSegments(path);
  const pathRequest: PathRequest = { kind: 'path', verb: method.toLowerCase(), method, path };
  if (parts[0] === 'api' && parts.length > 2)
    return resourceInfo(
      pathRequest,
      { group: '', version: parts[1] as string, parts: parts.slice(2) },
      query,
    );
  if (parts[0] === 'apis' && parts.length > 3)
    return resourceInfo(
      pathRequest,
      { group: parts[1] as string, version: parts[2] as string, parts: parts.slice(3) },
      query,
    );
  return pathRequest;
}

function decodeSegments(path: string): string[] {
  const segments = path.split('/').filter((segment) => segment !== '');
  if (!path.includes('%')) return segments;
  try {
    return segments.map((segment) => decodeURIComponent(segment));
  } catch {
    throw new InputError('contains a broken percent escape', {
      ...{ code: 'kube.path', subject: `the path ${JSON.stringify(path)}` },
    });
  }
}

/** The path of a resource: `parts` begins after the version. */
interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly parts: readonly string[];
}

function resourceInfo(request: PathRequest, located: ResourcePath, query: URLSearchParams): ResourceRequest {
  let { parts } = located;
  let namespace = '';
  const isInNamespace =
    parts[0] === 'namespaces' && parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2] as string);
  if (isInNamespace) {
    namespace = parts[1] as string;
    parts = parts.slice(2);
  } else if (parts[0] === 'namespaces' && parts.length > 1) namespace = parts[1] as string;
  const name = parts[1] ?? '';
  return {
    kind: 'resource',
    verb: verbOf(request.method, name, query),
    method: request.method,
    path: request.path,
    group: located.group,
    version: located.version,
    resource: parts[0] ?? '',
    subresource: parts[2] ?? '',
    namespace,
    name,
    rest: parts.slice(3).join('/'),
  };
}

function verbOf(method: string, name: string, query: URLSearchParams): string {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    case 'GET':
    case 'HEAD':
      if (isTrueParameter(query.get('watch'))) return 'watch';
      return name === '' ? 'list' : 'get';
    default:
      // Not a verb of the API: always 405.
      return method.toLowerCase();
  }
}

/**
 * Whether a boolean parameter of the query is true, as Kubernetes reads it: present without a value counts as true.
 * Source: apimachinery `pkg/runtime/conversion.go`, Convert_Slice_string_To_bool.
 */
export function isTrueParameter(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}
