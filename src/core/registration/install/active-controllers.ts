import type { KubeObject } from '@berth/kube/model/object-meta';
import { CONTROLLER_LABEL } from './controller-announcement.ts';

/** A controller that another installation runs on a hub, and that has its Lease. */
export interface ActiveController {
  readonly name: string;
  /** `namespace/name` of its Lease. */
  readonly lease: string;
  readonly holder: string;
  /** The work that is left to it, as a text. */
  readonly does: string;
  /** Whether it maintains the sets `default` and `global`. */
  readonly keepsSets: boolean;
}

interface LeaseSpec {
  readonly holderIdentity?: string | null;
  readonly leaseDurationSeconds?: number | null;
  readonly renewTime?: string | null;
}

const OCM_NAMESPACE = 'open-cluster-management-hub';
const REGISTRATION = 'acceptance, certificates, health and sets of clusters';
/**
 * Identified by the names of their Leases.
 * Source: open-cluster-management.io/ocm `pkg/cmd/hub`; library-go `controllercmd` adds `-lock` to the name of the component.
 */
const OF_OCM: ReadonlyMap<string, Pick<ActiveController, 'name' | 'does' | 'keepsSets'>> = new Map([
  [
    'registration-controller-lock',
    { name: 'OCM’s registration controller', does: REGISTRATION, keepsSets: true },
  ],
  ['placement-lock', { name: 'OCM’s placement controller', does: 'placements', keepsSets: false }],
]);
const BERTHS = /^berth-/;

/** The namespaces in which controllers have their Leases: those of OCM, and the default of `berth serve`. */
export const LEASE_NAMESPACES: readonly string[] = [OCM_NAMESPACE, 'berth-system'];

/**
 * Controllers whose Lease has not expired. A controller without leader election has none. It only says what it writes,
 * also where this installation runs it, so it is not found.
 */
export function activeControllers(leases: readonly KubeObject[], nowMs: number): readonly ActiveController[] {
  return leases.flatMap(({ metadata: { namespace = '', name, labels }, ...object }) => {
    const { holderIdentity, leaseDurationSeconds, renewTime } = (object['spec'] ?? {}) as LeaseSpec;
    const endsAtMs = Date.parse(renewTime ?? '') + (leaseDurationSeconds ?? 0) * 1_000;
    if (labels?.[CONTROLLER_LABEL] !== undefined) return [];
    if (!holderIdentity || !(endsAtMs > nowMs)) return [];
    const place = { lease: `${namespace}/${name}`, holder: holderIdentity };
    const ocms = namespace === OCM_NAMESPACE ? OF_OCM.get(name) : undefined;
    if (ocms !== undefined) return [{ ...place, ...ocms }];
    if (namespace === OCM_NAMESPACE || !BERTHS.test(name)) return [];
    return [{ ...place, name: 'berth serve', does: 'what its flags say', keepsSets: true }];
  });
}
