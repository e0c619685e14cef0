import { isClusterManagementAddOn } from '@berth/addon/rules/addon-versions';
import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  type KindInfo,
  LEASE,
  MANAGED_CLUSTER_ADDON,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import { BerthError, errorText, InputError } from '@berth/runtime/errors';
import { formatNameList } from '@berth/runtime/text/name-list';
import { removalGroupOf } from '../../core/addon/install/held-removal.ts';
import { type AddOnJudging, type HubAddOns, lostAddOns } from '../../core/preview/addons/plan-addons.ts';
import type { Plan } from '../../core/preview/plan.ts';
import {
  DEFAULT_REMOVAL_BUDGET,
  type Removal,
  type RemovalBudget,
} from '../../core/publish/judge/removal-budget.ts';
import { readDuties } from '../../core/registration/install/controller-announcement.ts';
import { readHubRemovals } from '../argocd/pull/hub-removals.ts';
import { CONTROLLER_LEASES } from '../inventory/schedulable-placement.ts';
import { settingsIn } from '../leadership/announced-settings.ts';

/** What a plan knows of the add-ons on a hub. */
export interface ReadAddOns {
  readonly hub: HubAddOns | undefined;
  readonly judging: Pick<AddOnJudging, 'budget' | 'removalsOf'> | undefined;
  /** What was not evaluated. */
  readonly notes: (plan: Pick<Plan, 'workloads' | 'addOnsHeld'>) => readonly string[];
}

/** Plain data. */
export interface GivenAddOns {
  /** Berth installs add-ons. Absent: the hub says whether it does. */
  readonly isInstalling?: true | undefined;
  /** Absent: that of the controller on the hub, or the default. */
  readonly budget?: RemovalBudget | undefined;
}

/**
 * Reads what the manager of add-ons will judge by. Without a hub, a plan assumes that Berth installs add-ons. On a hub, some
 * controller has to say so.
 */
export async function readAddOns(
  hub: KubeApi | undefined,
  sides: readonly { readonly objects: readonly SourceObject[] }[],
  { isInstalling, budget }: GivenAddOns = {},
): Promise<ReadAddOns> {
  if (hub === undefined)
    return {
      hub,
      judging: { budget: budget ?? DEFAULT_REMOVAL_BUDGET, removalsOf: () => [] },
      notes: assumed,
    };
  const isInGit = sides.some(({ objects }) => objects.some(({ object }) => isClusterManagementAddOn(object)));
  try {
    const announced = await announcedBudget(hub);
    const installer = isInstalling === true || announced !== undefined;
    // Where nobody says that Berth installs add-ons, the rights to read them may be missing.
    if (!installer && !isInGit) return UNKNOWN;
    const read = {
      managed: await listServed(hub, CLUSTER_MANAGEMENT_ADDON),
      installed: await listServed(hub, MANAGED_CLUSTER_ADDON),
      configs: [
        // A controller that only installs add-ons may not read how they are configured.
        ...(await orNone(listServed(hub, ADDON_TEMPLATE))),
        ...(await orNone(listServed(hub, ADDON_DEPLOYMENT_CONFIG))),
      ],
    };
    if (!installer) return { hub: read, judging: undefined, notes: notHeld };
    const removals = await readHubRemovals(hub);
    const removalsOf = (name: string): readonly Removal[] => removals.get(removalGroupOf(name)) ?? [];
    const judging = { budget: budget ?? announced ?? DEFAULT_REMOVAL_BUDGET, removalsOf };
    return { hub: read, judging, notes: () => [] };
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    const why = `The add-ons on the hub cannot be read. The plan assumes them on the published clusters, and computes no hold: ${errorText(error)}`;
    return { ...UNKNOWN, notes: () => [why] };
  }
}

const UNKNOWN: ReadAddOns = { hub: undefined, judging: undefined, notes: () => [] };

/** The budget of the controller that installs add-ons; undefined if none says that it does, or nobody may read it. */
async function announcedBudget(hub: KubeApi): Promise<RemovalBudget | undefined> {
  const leases = await orNone(hub.list(LEASE, CONTROLLER_LEASES).then(({ items }) => items));
  const lease = leases.find((one) => readDuties(one).addons.includes('install'));
  return lease && (settingsIn(lease)?.removalBudget ?? DEFAULT_REMOVAL_BUDGET);
}

async function listServed(hub: KubeApi, kind: KindInfo): Promise<readonly KubeObject[]> {
  const apiVersion = apiVersionOf(kind);
  const served = await hub.resolve(apiVersion, kind.kind);
  if (served === undefined) return [];
  // The items of a list have no apiVersion and kind.
  return (await hub.list(served)).items.map((item) => ({ ...item, apiVersion, kind: kind.kind }));
}

/** What may not be read is none. */
async function orNone<T>(read: Promise<readonly T[]>): Promise<readonly T[]> {
  return read.catch((error: unknown) => {
    if (!(error instanceof InputError)) throw error;
    return [];
  });
}

function assumed({ addOnsHeld }: Pick<Plan, 'addOnsHeld'>): readonly string[] {
  if (addOnsHeld.length === 0) return [];
  const names = formatNameList(addOnsHeld.map(({ addOn }) => addOn));
  return [
    `Add-on ${names} is held where Berth installs add-ons, counted with earlier removals: only a hub knows (--hub).`,
  ];
}

function notHeld({ workloads }: Pick<Plan, 'workloads'>): readonly string[] {
  const leaving = lostAddOns(workloads);
  if (leaving.length === 0) return [];
  const names = formatNameList(leaving.map(({ name }) => name));
  return [
    `No controller on the hub says that Berth installs add-ons, so nothing holds that clusters lose ${names}.`,
  ];
}
