import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { ManifestWork, ManifestWorkStatus } from '@berth/ocm/kind/manifest-work';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { AGENT_MANAGER } from '../rules/applied/agent-manager.ts';

/**
 * Writes the status of a work if it differs.
 * @returns the work after the write
 * @throws ConflictError if the work has changed
 */
export async function writeWorkStatus(
  hub: KubeApi,
  work: ManifestWork,
  status: ManifestWorkStatus,
): Promise<ManifestWork> {
  if (jsonEqual(work.status ?? {}, status)) return work;
  const { namespace = '', name, uid, resourceVersion } = work.metadata;
  // A merge patch replaces lists completely, so removed entries disappear.
  const patch = { metadata: { uid, resourceVersion }, status };
  const written = await hub.mergePatch(MANIFEST_WORK, { namespace, name }, patch, {
    subresource: 'status',
    fieldManager: AGENT_MANAGER,
  });
  return written as unknown as ManifestWork;
}

/**
 * Replaces the finalizers of a work.
 * @returns the work after the write
 * @throws ConflictError if the work has changed
 */
export async function writeFinalizers(
  hub: KubeApi,
  work: ManifestWork,
  finalizers: readonly string[],
): Promise<ManifestWork> {
  const { namespace = '', name, uid, resourceVersion } = work.metadata;
  const patch = { metadata: { uid, resourceVersion, finalizers } };
  const options = { fieldManager: AGENT_MANAGER };
  return (await hub.mergePatch(
    MANIFEST_WORK,
    { namespace, name },
    patch,
    options,
  )) as unknown as ManifestWork;
}
