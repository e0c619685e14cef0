import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { RECORDED_STATUS_MANAGER } from '../../../core/registration/health/is-live.ts';
import { containsAll } from '../../../core/sync/desired-object.ts';
import type { HubSyncOptions } from './hub-sync-options.ts';

const KINDS = new Set(['ManagedCluster', 'AddOnPlacementScore']);

/**
 * Writes the status that Git records, on a hub without agents.
 * @returns whether it wrote
 */
export async function writeRecordedStatus(
  { api, written, recordedStatus }: Pick<HubSyncOptions, 'api' | 'written' | 'recordedStatus'>,
  kind: KindInfo,
  { object, live }: { readonly object: KubeObject; readonly live: KubeObject },
): Promise<boolean> {
  const status = object['status'];
  if (!recordedStatus || !KINDS.has(object.kind) || status === undefined) return false;
  if (containsAll(live['status'], status)) return false;
  const key = { namespace: live.metadata.namespace ?? '', name: live.metadata.name };
  const options = { subresource: 'status', fieldManager: RECORDED_STATUS_MANAGER } as const;
  written?.applied(await api.mergePatch(kind, key, { status }, options));
  return true;
}
