import { BerthError } from '@berth/runtime/errors';
import { CONTROLLER_REVISION, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import type { ManifestWorkReplicaSet } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { LAST_GOOD_ANNOTATION } from '../../core/work/replica-set/rollout-control.ts';

/**
 * Reads the last template that every cluster of a replica set applied successfully. It is stored in a
 * ControllerRevision, which survives restarts, is deleted with its owner, and can be read with kubectl. An annotation
 * of the replica set names it.
 */
export async function readLastGood(
  hub: KubeApi,
  replicaSet: ManifestWorkReplicaSet,
): Promise<ManifestWorkSpec | undefined> {
  const hash = replicaSet.metadata.annotations?.[LAST_GOOD_ANNOTATION];
  if (hash === undefined) return undefined;
  const revision = await hub.get(CONTROLLER_REVISION, keyOf(replicaSet, hash));
  return (revision?.['data'] as { spec?: ManifestWorkSpec } | undefined)?.spec;
}

/**
 * Creates the new revision, then sets the reference, then deletes the old one, so that a last good
 * template exists at any time.
 */
export async function recordLastGood(
  hub: KubeApi,
  replicaSet: ManifestWorkReplicaSet,
  templateHash: string,
): Promise<void> {
  const before = replicaSet.metadata.annotations?.[LAST_GOOD_ANNOTATION];
  if (before === templateHash) return;
  await createRevision(hub, replicaSet, templateHash);
  const { namespace = '', name, uid } = replicaSet.metadata;
  const patch = { metadata: { uid, annotations: { [LAST_GOOD_ANNOTATION]: templateHash } } };
  await hub.mergePatch(MANIFEST_WORK_REPLICA_SET, { namespace, name }, patch, {
    fieldManager: 'berth-works',
  });
  if (before !== undefined) await hub.delete(CONTROLLER_REVISION, keyOf(replicaSet, before));
}

/** A revision never changes, and its name is derived from its content, so an existing revision is the right one. */
async function createRevision(hub: KubeApi, replicaSet: ManifestWorkReplicaSet, hash: string): Promise<void> {
  const { apiVersion, kind, metadata } = replicaSet;
  const revision: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      ...keyOf(replicaSet, hash),
      ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' }],
    },
    revision: metadata.generation ?? 1,
    data: { spec: replicaSet.spec.manifestWorkTemplate },
  };
  try {
    await hub.create(CONTROLLER_REVISION, revision, { fieldManager: 'berth-works' });
  } catch (error) {
    if (!(error instanceof BerthError) || error.code !== 'kube.alreadyexists') throw error;
  }
}

function keyOf(
  replicaSet: ManifestWorkReplicaSet,
  hash: string,
): { readonly namespace: string; readonly name: string } {
  const { namespace = '', name } = replicaSet.metadata;
  return { namespace, name: `${name.slice(0, 200).replace(/[^a-z0-9]+$/, '')}-${hash}` };
}
