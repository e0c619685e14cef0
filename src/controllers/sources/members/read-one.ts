import type { KindInfo } from '../../../core/model/kinds.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { KubeApi } from '../../../core/ports.ts';

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
