import type { ObjectMeta } from '@berth/kube/model/object-meta';
import {
  ADDON_GROUP,
  type ClusterManagementAddOn,
  type ConfigReferent,
  HOSTING_CLUSTER_ANNOTATION,
  type InstallPlacement,
  type ManagedClusterAddOn,
} from '@berth/ocm/kind/addon';
import { type ManagedCluster, takesWork } from '@berth/ocm/kind/managed-cluster';
import { type PlacementDecision, placementOfDecision } from '@berth/ocm/kind/placement-decision';
import { formatNameList } from '@berth/runtime/text/name-list';
import { isManagedHere } from './addon-versions.ts';

/**
 * What a placement of an install strategy selects. Without a decision that is unknown, which is not the same as no cluster: nothing is
 * removed because of it.
 */
export type PlacementSelection =
  | { readonly kind: 'decided'; readonly decisions: readonly PlacementDecision[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'undecided' };

/** What placements select, by decisions that were listed. */
export function selectionBy(
  decisions: readonly { readonly metadata: ObjectMeta }[],
): (placement: ConfigReferent) => PlacementSelection {
  return ({ namespace = '', name }) => {
    const pages = decisions.filter((page) => placementOfDecision(page) === `${namespace}/${name}`);
    return pages.length === 0
      ? { kind: 'undecided' }
      : { kind: 'decided', decisions: pages as unknown as readonly PlacementDecision[] };
  };
}

export interface InstallInput {
  readonly addOn: ClusterManagementAddOn;
  /** By cluster: the add-on of this name. */
  readonly installed: ReadonlyMap<string, ManagedClusterAddOn>;
  readonly selectionOf: (placement: InstallPlacement) => PlacementSelection;
  readonly cluster: (name: string) => ManagedCluster | undefined;
}

export interface InstallPlan {
  /** Clusters that get the add-on, sorted. */
  readonly joining: readonly string[];
  /** Add-ons of clusters that no placement selects any more, those made by hand included. Empty while a placement is unknown. */
  readonly leaving: readonly ManagedClusterAddOn[];
  /** Why nothing leaves at present, as text for users. */
  readonly unknown: string | undefined;
}

/** The placements that decide which clusters have the add-on. Undefined: people do, or the add-on's own manager. */
export function installPlacements(addOn: ClusterManagementAddOn): readonly InstallPlacement[] | undefined {
  const { type, placements = [] } = addOn.spec.installStrategy ?? {};
  return type === 'Placements' && isManagedHere(addOn) ? placements : undefined;
}

/**
 * Which clusters get and lose an add-on. As upstream (pkg/addon/controllers/addonmanagement), the placements of a strategy decide
 * alone, so an add-on that somebody made by hand elsewhere leaves, too.
 */
export function planInstall(input: InstallInput): InstallPlan {
  const placements = installPlacements(input.addOn);
  if (placements === undefined) return { joining: [], leaving: [], unknown: undefined };
  const { selected, unknown } = selectedClusters(placements, input.selectionOf);
  const joining = [...selected].filter(
    (name) => !input.installed.has(name) && takesWork(input.cluster(name)),
  );
  const left = [...input.installed].filter(
    ([cluster, { metadata }]) => !selected.has(cluster) && metadata.deletionTimestamp === undefined,
  );
  return {
    joining: joining.sort(),
    leaving: unknown === undefined ? left.map(([, addon]) => addon) : [],
    unknown,
  };
}

/** The clusters that at least one of the placements selects. */
export function selectedClusters(
  placements: readonly InstallPlacement[],
  selectionOf: InstallInput['selectionOf'],
): { readonly selected: ReadonlySet<string>; readonly unknown: string | undefined } {
  const selected = new Set<string>();
  const [missing, undecided]: [string[], string[]] = [[], []];
  for (const placement of placements) {
    const selection = selectionOf(placement);
    const key = `${placement.namespace}/${placement.name}`;
    if (selection.kind === 'missing') missing.push(key);
    else if (selection.kind === 'undecided') undecided.push(key);
    else
      for (const { status } of selection.decisions)
        for (const { clusterName } of status?.decisions ?? []) selected.add(clusterName);
  }
  const texts = [
    ...(missing.length > 0 ? [`placement ${formatNameList(missing)} does not exist`] : []),
    ...(undecided.length > 0
      ? [`nobody has decided placement ${formatNameList(undecided)} yet: its controller has to run`]
      : []),
  ];
  return { selected, unknown: texts.length === 0 ? undefined : texts.join(', and ') };
}

/** On a ManagedClusterAddOn: the annotations that came from its cluster, with commas. */
export const COPIED_ANNOTATIONS = 'berth.dev/copied-annotations';

const HOSTED_ADDONS = `${ADDON_GROUP}/enable-hosted-mode-addons`;
const DEPLOY_MODE = 'import.open-cluster-management.io/klusterlet-deploy-mode';
const KLUSTERLET_HOST = 'import.open-cluster-management.io/hosting-cluster-name';

/** The annotations that a cluster gives its add-ons. Source: ocm `pkg/addon/controllers/addonmanagement/annotations.go`. */
function givenAnnotations({ annotations = {} }: ObjectMeta): ReadonlyMap<string, string> {
  const given = new Map(Object.entries(annotations).filter(([key]) => key.startsWith(`${ADDON_GROUP}/`)));
  const isHosted = ['hosted', 'singletonhosted'].includes((annotations[DEPLOY_MODE] ?? '').toLowerCase());
  const host = annotations[KLUSTERLET_HOST] ?? '';
  if (given.get(HOSTED_ADDONS)?.toLowerCase() === 'true' && isHosted && host !== '')
    given.set(HOSTING_CLUSTER_ANNOTATION, host);
  return given;
}

/**
 * What changes in the annotations of a cluster's add-on; null removes one. Only what came from the cluster is removed: upstream also
 * removes what somebody else wrote under the prefix.
 * @returns undefined if nothing changes
 */
export function planAnnotations(
  addon: ObjectMeta | undefined,
  cluster: ObjectMeta,
): Readonly<Record<string, string | null>> | undefined {
  const before = addon?.annotations ?? {};
  const given = givenAnnotations(cluster);
  const copied = (before[COPIED_ANNOTATIONS] ?? '').split(',').filter((key) => key !== '');
  const stale = copied.filter((key) => !given.has(key) && before[key] !== undefined);
  const list = [...given.keys()].sort().join(',');
  const changed = [...given].filter(([key, value]) => before[key] !== value);
  if (stale.length === 0 && changed.length === 0 && list === copied.join(',')) return undefined;
  return {
    ...Object.fromEntries(changed),
    ...Object.fromEntries(stale.map((key) => [key, null])),
    [COPIED_ANNOTATIONS]: list === '' ? null : list,
  };
}
