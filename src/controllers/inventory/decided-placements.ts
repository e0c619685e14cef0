import { InputError } from '@berth/runtime/errors';
import { LEASE } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { DEFAULT_NAMESPACE } from '../../core/sync/apply-set.ts';
import {
  CONTROLLER_LABEL,
  placementsDecided,
} from '../../core/registration/install/controller-announcement.ts';

/** The Leases in which controllers say what they write to a hub. */
export const CONTROLLER_LEASES = { namespace: DEFAULT_NAMESPACE, labelSelector: CONTROLLER_LABEL } as const;

/**
 * Which placements on a hub Berth decides: those of Git and those with its annotation, or all. A controller that decides all
 * says so on the hub, because its placements have no such annotation. Without a controller that says anything, or without the
 * right to read that, it is the first.
 */
export async function readDecidedPlacements(hub: Pick<KubeApi, 'list'>): Promise<'own' | 'all'> {
  try {
    return placementsDecided((await hub.list(LEASE, CONTROLLER_LEASES)).items);
  } catch (error) {
    if (error instanceof InputError) return 'own';
    throw error;
  }
}
