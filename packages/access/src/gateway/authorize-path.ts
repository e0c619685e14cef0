import { SUBJECT_ACCESS_REVIEW } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { parseRequestInfo, type RequestInfo } from '@berth/kube/request-info';
import type { TokenUser } from '@berth/kube/review-token';

/**
 * Whether the hub itself would allow a user what a request asks of a cluster. Upstream judges each request by the verb of the gateway's
 * path (`get` for a list); here it is the verb of the request in the cluster.
 * @param target method, and path with query for the cluster
 * @returns why not, as an API server says it; undefined: it would
 * @throws InputError for a path that means nothing; the errors of the API
 */
export async function refusalOnHub(
  hub: KubeApi,
  user: TokenUser,
  target: { readonly method: string; readonly path: string },
): Promise<string | undefined> {
  const [path = '', query = ''] = target.path.split('?');
  const info = parseRequestInfo(target.method, path, new URLSearchParams(query));
  const { username, groups = [], extra = {} } = user;
  const { status } = (await hub.create(SUBJECT_ACCESS_REVIEW, {
    ...{ apiVersion: 'authorization.k8s.io/v1', kind: SUBJECT_ACCESS_REVIEW.kind, metadata: { name: '' } },
    spec: { user: username, groups, extra, ...attributesOf(info) },
  })) as KubeObject & { readonly status?: { readonly allowed?: boolean } };
  return status?.allowed === true ? undefined : refusal(username, info);
}

function attributesOf(info: RequestInfo): object {
  const { verb, path } = info;
  if (info.kind === 'path') return { nonResourceAttributes: { verb, path } };
  const { group, version, resource, subresource, namespace, name } = info;
  return { resourceAttributes: { verb, group, version, resource, subresource, namespace, name } };
}

/** Source: kubernetes `apiserver/pkg/endpoints/handlers/responsewriters/errors.go`, ForbiddenStatusError. */
function refusal(username: string, info: RequestInfo): string {
  const user = `User ${JSON.stringify(username)} cannot ${info.verb}`;
  if (info.kind === 'path') return `forbidden: ${user} path ${JSON.stringify(info.path)}`;
  const { group, resource, subresource, namespace, name } = info;
  const what = JSON.stringify(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  const object = `${resource}${group && `.${group}`}${name && ` ${JSON.stringify(name)}`}`;
  return `${object} is forbidden: ${user} resource ${what} in API group ${JSON.stringify(group)} ${where}`;
}
