import { readAddOn, readClusterAddOn } from '@berth/addon/rules/addon-versions';
import { planInstall, selectionBy } from '@berth/addon/rules/plan-install';
import {
  CLUSTER_MANAGEMENT_ADDON,
  CONFIG_MAP,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import type { ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import { takesWork } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { Placement } from '@berth/ocm/kind/placement';
import { InputError } from '@berth/runtime/errors';
import { sha256 } from '@berth/runtime/sha256';
import { formatNameList } from '@berth/runtime/text/name-list';
import { heldRemoval, leavingClusters } from '../../core/addon/install/held-removal.ts';
import { APPLICATION, asApplication } from '../../core/argocd/argocd-kinds.ts';
import { countedRemoval } from '../../core/argocd/pull/judge-removals.ts';
import { planPull, type WorkToRemove } from '../../core/argocd/pull/plan-pull.ts';
import { hubApplicationOf, PULL_LABEL, removalGroup } from '../../core/argocd/pull/pull-target.ts';
import { activeHold } from '../../core/publish/approval/approval-code.ts';
import {
  HELD_CODE_ANNOTATION,
  HELD_MESSAGE_ANNOTATION,
  RELEASE_ANNOTATION,
  RELEASED_ANNOTATION,
  RELEASED_BY_ANNOTATION,
} from '../../core/publish/approval/publish-annotations.ts';
import { parentOfSource } from '../../core/sync/apply-set.ts';

/**
 * Releases a held decision.
 * @throws InputError `release.placement`, `release.not-held`, `release.token`, or errors of the hub
 */
export async function releasePlacement(
  hub: KubeApi,
  key: ObjectKey,
  { code, releasedBy }: Release,
): Promise<void> {
  const found = (await hub.get(PLACEMENT, key)) as unknown as Placement | undefined;
  requireHeld(found, `Placement ${key.namespace}/${key.name}`, code);
  const annotations = { [RELEASED_ANNOTATION]: code, [RELEASED_BY_ANNOTATION]: releasedBy };
  await hub.mergePatch(PLACEMENT, key, { metadata: { annotations } }, RELEASE_WRITE);
}

/**
 * Releases held deletions of a source. The controller writes held deletions to the ApplySet parent
 * of the source.
 * @param from the source, and the namespace of the controller's objects
 * @returns whether the hub shows that these deletions are held; controllers of older versions do
 * not write it
 * @throws InputError `release.source`, `release.not-held`, `release.token`, or what the hub throws
 */
export async function releaseDeletions(
  hub: KubeApi,
  { source, namespace }: { readonly source: string; readonly namespace: string },
  { code, releasedBy }: Release,
): Promise<{ readonly isShown: boolean }> {
  const key = parentOfSource(source, namespace);
  const subject = `source ${source}`;
  const parent = await hub.get(CONFIG_MAP, key);
  if (parent === undefined)
    throw new InputError(`has no ApplySet on the hub: there is no ConfigMap ${namespace}/${key.name}`, {
      code: 'release.source',
      subject,
      hint: 'use the name of the source in the settings; --namespace sets the namespace of the controller',
    });
  const { [HELD_CODE_ANNOTATION]: held, [HELD_MESSAGE_ANNOTATION]: message } =
    parent.metadata.annotations ?? {};
  if (held === '') throw new InputError('nothing is held', { code: 'release.not-held', subject });
  if (held !== undefined && held !== code)
    throw new InputError(
      `the approval code ${code} does not match the deletions that are held now, under ${held}`,
      {
        code: 'release.token',
        subject,
        hint: message,
      },
    );
  const annotations = { [RELEASE_ANNOTATION]: code, [RELEASED_BY_ANNOTATION]: releasedBy };
  await hub.mergePatch(CONFIG_MAP, key, { metadata: { annotations } }, RELEASE_WRITE);
  return { isShown: held !== undefined };
}

/** An outdated code would have no effect, so it is reported. */
function requireHeld(placement: Placement | undefined, subject: string, code: string): void {
  if (placement === undefined)
    throw new InputError('does not exist on the hub', { code: 'release.placement', subject });
  const held = activeHold(placement);
  if (held === undefined) throw new InputError('nothing is held', { code: 'release.not-held', subject });
  if (!held.message.includes(code))
    throw new InputError(`the approval code ${code} does not match the change that is held now`, {
      code: 'release.token',
      subject,
      hint: held.message,
    });
}

/** The approval of one held change by a person. */
export interface Release {
  /** Approval code of the held change. */
  readonly code: string;
  /** Who released it, and when. It is stored on the object. */
  readonly releasedBy: string;
}

export const RELEASE_WRITE = { fieldManager: 'berth-release' } as const;

/**
 * Releases held removals of pulled works. The removals are computed from the hub as the controller
 * does.
 * @param group see removalGroup
 * @returns the names of the works that are removed
 * @throws InputError `release.removals`, `release.not-held`, `release.token`, or what the hub
 * throws
 */
export async function releaseRemovals(
  hub: KubeApi,
  group: string,
  { code, releasedBy }: Release,
): Promise<readonly string[]> {
  const leaving = await leavingOf(hub, group);
  const { taken, names, code: current } = countedRemoval(sha256, group, leaving);
  const [first] = taken;
  if (first === undefined)
    throw new InputError('nothing is held', { code: 'release.not-held', subject: group });
  if (current !== code)
    throw new InputError(
      `the approval code ${code} does not match what would be removed now, under ${current}`,
      {
        code: 'release.token',
        subject: group,
        hint: `${names.length} ManifestWorks: ${formatNameList(names)}`,
      },
    );
  const { namespace = '', name } = first.work.metadata;
  const metadata = { annotations: { [RELEASE_ANNOTATION]: code, [RELEASED_BY_ANNOTATION]: releasedBy } };
  await hub.mergePatch(MANIFEST_WORK, { namespace, name }, { metadata }, RELEASE_WRITE);
  return names;
}

async function leavingOf(hub: KubeApi, group: string): Promise<readonly WorkToRemove[]> {
  const { items } = await hub.list(MANIFEST_WORK, { labelSelector: PULL_LABEL });
  const all = items as unknown as readonly ManifestWork[];
  const applications = new Set(
    all.filter((work) => removalGroup(work) === group).map((work) => hubApplicationOf(work) ?? ''),
  );
  if (applications.size === 0)
    throw new InputError('no ManifestWork on the hub carries such an Application', {
      code: 'release.removals',
      subject: group,
      hint: 'berth status names the ApplicationSets and namespaces whose removals are held',
    });
  const open = (await hub.list(MANAGED_CLUSTER)).items.filter(takesWork);
  const clusters = new Set(open.map(({ metadata }) => metadata.name));
  const leaving: WorkToRemove[] = [];
  for (const key of applications) {
    const [namespace = '', name = ''] = key.split('/');
    const live = await hub.get(APPLICATION, { namespace, name });
    const application = live === undefined ? undefined : asApplication(live);
    const works = all.filter((work) => hubApplicationOf(work) === key);
    leaving.push(...planPull({ application, works, takesWork: (one) => clusters.has(one) }).leaving);
  }
  return leaving;
}

/**
 * Releases the held removal of an add-on from clusters that left its placements.
 * @returns the clusters that lose it
 * @throws InputError `release.not-held`, `release.token`, or what the hub throws
 */
export async function releaseAddOnRemovals(
  hub: KubeApi,
  name: string,
  { code, releasedBy }: Release,
): Promise<readonly string[]> {
  const leaving = await leavingAddOns(hub, name);
  const { clusters, code: current } = leavingClusters(sha256, name, leaving);
  const [first] = leaving;
  if (first === undefined)
    throw new InputError('nothing is held', { code: 'release.not-held', subject: `add-on ${name}` });
  if (current !== code)
    throw new InputError(
      `the approval code ${code} does not match what would be removed now, under ${current}`,
      { code: 'release.token', subject: `add-on ${name}`, hint: formatNameList(clusters) },
    );
  const metadata = { annotations: { [RELEASE_ANNOTATION]: code, [RELEASED_BY_ANNOTATION]: releasedBy } };
  const key = { namespace: first.metadata.namespace ?? '', name };
  await hub.mergePatch(MANAGED_CLUSTER_ADDON, key, { metadata }, RELEASE_WRITE);
  return clusters;
}

/** The removal of an add-on that is held now. */
export interface HeldAddOnRemoval {
  readonly code: string;
  readonly message: string;
  /** By name. */
  readonly clusters: readonly string[];
}

/** @returns undefined if nothing is held, or if the controller has not judged yet what would leave now */
export async function readHeldAddOn(hub: KubeApi, name: string): Promise<HeldAddOnRemoval | undefined> {
  const object = await hub.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name });
  const held = object && heldRemoval(object);
  if (held === undefined) return undefined;
  const { clusters, code } = leavingClusters(sha256, name, await leavingAddOns(hub, name));
  return held.code === code ? { code, message: held.message, clusters } : undefined;
}

/** Those that the controller would remove, by the decisions on the hub. */
async function leavingAddOns(hub: KubeApi, name: string): Promise<readonly ManagedClusterAddOn[]> {
  const fieldSelector = `metadata.name=${name}`;
  const [object] = (await hub.list(CLUSTER_MANAGEMENT_ADDON, { fieldSelector })).items;
  if (object === undefined) return [];
  const [addons, decisions] = [
    await hub.list(MANAGED_CLUSTER_ADDON, { fieldSelector }),
    await hub.list(PLACEMENT_DECISION),
  ];
  return planInstall({
    addOn: readAddOn(object),
    installed: new Map(
      addons.items.map((addon) => [addon.metadata.namespace ?? '', readClusterAddOn(addon)] as const),
    ),
    selectionOf: selectionBy(decisions.items),
    cluster: () => undefined,
  }).leaving;
}
