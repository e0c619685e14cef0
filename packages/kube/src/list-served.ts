import { apiVersionOf, type KindInfo } from './model/kinds.ts';
import type { KubeApi, ListOptions } from './model/kube-api.ts';
import type { KubeObject } from './model/object-meta.ts';

/** The objects of a kind; none on a server that does not have the kind. */
export async function listServed(
  hub: Pick<KubeApi, 'list' | 'resolve'>,
  kind: KindInfo,
  options?: ListOptions,
): Promise<readonly KubeObject[]> {
  const served = await hub.resolve(apiVersionOf(kind), kind.kind);
  return served === undefined ? [] : (await hub.list(served, options)).items;
}
