import { apiVersionOf, LEASE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatNameList } from '@berth/runtime/text/name-list';

/** Label of the Leases by which controllers notice each other. */
export const CONTROLLER_LABEL = 'berth.dev/controller';
/** On such a Lease: the placements that the controller decides. */
export const DECIDES_ANNOTATION = 'berth.dev/decides';
/** On such a Lease: the sources that it applies, with commas. */
export const APPLIES_ANNOTATION = 'berth.dev/applies';
/** On such a Lease: the duties of registration that it has, with commas. */
export const REGISTRATION_ANNOTATION = 'berth.dev/registration';
/** On such a Lease: what it does for add-ons, with commas. */
export const ADDONS_ANNOTATION = 'berth.dev/addons';

/** On such a Lease: the settings by which the controller follows commits, as JSON. */
export const SETTINGS_ANNOTATION = 'berth.dev/settings';

/** What a controller writes on a hub. */
export interface ControllerDuties {
  /** Placements with Berth's annotation and those of Git; all; none. */
  readonly decides: 'own' | 'all' | 'none';
  /** Names of sources. */
  readonly applies: readonly string[];
  readonly registration: readonly string[];
  readonly addons: readonly string[];
}

export interface Announcement {
  readonly name: string;
  /** Unique for each start of a process; '' after it ended in order. */
  readonly identity: string;
  readonly durationSeconds: number;
  /** Milliseconds since the epoch. */
  readonly renewedAtMs: number;
  readonly duties: ControllerDuties;
  /** JSON. */
  readonly settings: string;
}

export function announcementLease(announcement: Announcement, namespace: string): KubeObject {
  const { name, identity, durationSeconds, renewedAtMs, duties, settings } = announcement;
  return {
    apiVersion: apiVersionOf(LEASE),
    kind: LEASE.kind,
    metadata: {
      ...{ name, namespace },
      labels: { [CONTROLLER_LABEL]: 'true' },
      annotations: {
        [DECIDES_ANNOTATION]: duties.decides,
        [APPLIES_ANNOTATION]: duties.applies.join(','),
        [REGISTRATION_ANNOTATION]: duties.registration.join(','),
        [ADDONS_ANNOTATION]: duties.addons.join(','),
        [SETTINGS_ANNOTATION]: settings,
      },
    },
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: durationSeconds,
      renewTime: new Date(renewedAtMs).toISOString().replace('Z', '000Z'),
    },
  };
}

export function readDuties({ metadata: { annotations } }: KubeObject): ControllerDuties {
  const list = (key: string): readonly string[] =>
    (annotations?.[key] ?? '').split(',').filter((name) => name !== '');
  const decides = annotations?.[DECIDES_ANNOTATION];
  return {
    decides: decides === 'all' || decides === 'own' ? decides : 'none',
    applies: list(APPLIES_ANNOTATION),
    registration: list(REGISTRATION_ANNOTATION),
    addons: list(ADDONS_ANNOTATION),
  };
}

/**
 * What two controllers would both write. Two that decide only placements with Berth's annotation may run beside each other:
 * they come to the same decisions. Where one decides all, the hub was meant to be its alone.
 * @returns phrases for `both …`; empty: they may run beside each other
 */
export function sharedDuties(one: ControllerDuties, other: ControllerDuties): readonly string[] {
  const both = (pick: (duties: ControllerDuties) => readonly string[]): readonly string[] =>
    pick(one).filter((name) => pick(other).includes(name));
  const sources = both(({ applies }) => applies);
  const duties = both(({ registration }) => registration);
  const addons = both((duty) => duty.addons);
  const decide = [one, other].every(({ decides }) => decides !== 'none');
  const isOnlys = [one, other].some(({ decides }) => decides === 'all');
  return [
    ...(sources.length > 0 ? [`apply source ${formatNameList(sources)}`] : []),
    ...(decide && isOnlys ? ['decide the placements of the hub'] : []),
    ...(duties.length > 0 ? [`do the ${formatNameList(duties)} of registration`] : []),
    ...(addons.length > 0 ? [`do the ${formatNameList(addons)} of add-ons`] : []),
  ];
}

/** Whether an announcement is younger than it is valid for. */
export function isAnnounced(lease: KubeObject, nowMs: number): boolean {
  const { holderIdentity, leaseDurationSeconds, renewTime } = (lease['spec'] ?? {}) as LeaseSpec;
  if (!holderIdentity) return false;
  return nowMs < Date.parse(renewTime ?? '') + (leaseDurationSeconds ?? 0) * 1_000;
}

/** Which placements the controllers of a hub decide, as they said last. Without any: those with Berth's annotation. */
export function placementsDecided(leases: readonly KubeObject[]): 'own' | 'all' {
  return leases.some((lease) => readDuties(lease).decides === 'all') ? 'all' : 'own';
}

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
  return leases.flatMap((lease) => {
    const { namespace = '', name, labels } = lease.metadata;
    const { holderIdentity } = (lease['spec'] ?? {}) as LeaseSpec;
    if (labels?.[CONTROLLER_LABEL] !== undefined) return [];
    if (!holderIdentity || !isAnnounced(lease, nowMs)) return [];
    const place = { lease: `${namespace}/${name}`, holder: holderIdentity };
    const ocms = namespace === OCM_NAMESPACE ? OF_OCM.get(name) : undefined;
    if (ocms !== undefined) return [{ ...place, ...ocms }];
    if (namespace === OCM_NAMESPACE || !BERTHS.test(name)) return [];
    return [{ ...place, name: 'berth serve', does: 'what its flags say', keepsSets: true }];
  });
}
