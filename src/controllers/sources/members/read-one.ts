import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';

/** Reads an object by a list, so that a source needs no additional right; undefined if the hub does not have it. */
export async function readOne(
  api: KubeApi,
  kind: KindInfo,
  { metadata }: Pick<KubeObject, 'metadata'>,
): Promise<KubeObject | undefined> {
  const { items } = await api.list(kind, {
    namespace: metadata.namespace,
    fieldSelector: `metadata.name=${metadata.name}`,
  });
  return items[0];
}
