import { sha256 } from '@berth/runtime/sha256';
import { BerthError } from '@berth/runtime/errors';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { identityOf } from '@berth/kube/model/object-ref';
import type { KubeApi } from '@berth/kube/model/kube-api';
import {
  contestedObjects,
  type OwnerOf,
  type SourceDeclaration,
} from '../../core/preview/sides/merge-sources.ts';
import { APPLY_SET_PART_OF_LABEL, applySetId, parentOfSource } from '../../core/sync/apply-set.ts';

/**
 * Finds the source that owns each object which more than one source declares. The controller leaves such an object to
 * its owner.
 * @param commits what each source declares at each of the commits
 * @returns by identity; the owner of an object that cannot be read is unknown
 */
export async function readOwners(
  api: KubeApi,
  ...commits: readonly (readonly SourceDeclaration[])[]
): Promise<OwnerOf> {
  const sources = commits.flat();
  const names = new Map(sources.map(({ name }) => [applySetId(sha256, parentOfSource(name)), name]));
  const owners = new Map<string, string>();
  for (const object of commits.flatMap(contestedObjects)) {
    const set = (await readObject(api, object))?.metadata.labels?.[APPLY_SET_PART_OF_LABEL];
    const owner = names.get(set ?? '');
    if (owner !== undefined) owners.set(identityOf(object), owner);
  }
  return (identity) => owners.get(identity);
}

async function readObject(api: KubeApi, object: KubeObject): Promise<KubeObject | undefined> {
  try {
    const kind = await api.resolve(object.apiVersion, object.kind);
    const { name, namespace } = object.metadata;
    return (
      kind && (await api.get(kind, { name, namespace: kind.namespaced ? (namespace ?? 'default') : '' }))
    );
  } catch (error) {
    if (error instanceof BerthError) return undefined;
    throw error;
  }
}
