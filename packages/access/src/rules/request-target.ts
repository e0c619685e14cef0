import { done, failed, type Outcome } from '@berth/runtime/outcome';

/** What a URL of the user server means. */
export interface RequestTarget {
  readonly cluster: string;
  /** Path and query for the cluster's API server. */
  readonly path: string;
}

/** A DNS subdomain, as the name of a ManagedCluster is (RFC 1123). */
const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME = 253;

/**
 * The first segment names the cluster, literally: no escape is decoded in it. The rest goes to that cluster as it is, but without a
 * segment that a server on the way could read as a step up.
 * @param url as it is in the request line
 */
export function requestTarget(url: string): Outcome<RequestTarget> {
  // An absolute URL, and `*` of OPTIONS.
  if (!url.startsWith('/')) return failed('the path does not begin with /');
  const [path = '', ...query] = url.split('?');
  if (path.includes('\\') || /%5c/i.test(path)) return failed('the path has a backslash');
  const [, cluster = '', ...rest] = path.split('/');
  if (!CLUSTER_NAME.test(cluster) || cluster.length > MAX_NAME)
    return failed('the first part of the path is not the name of a cluster, expected /CLUSTER/api/...');
  // Twice: a server on the way may decode once more.
  for (const segment of rest.flatMap((one) => decoded(decoded(one)).split('/')))
    if (segment === '.' || segment === '..') return failed('the path has a step up, or to itself');
  const suffix = query.length === 0 ? '' : `?${query.join('?')}`;
  return done({ cluster, path: `/${rest.join('/')}${suffix}` });
}

function decoded(text: string): string {
  return text.replace(/%(2e|2f|25)/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
