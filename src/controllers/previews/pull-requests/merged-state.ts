import {
  CLUSTER_MANAGEMENT_ADDON,
  CONFIG_MAP,
  MANAGED_CLUSTER_ADDON,
  PLACEMENT,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { PublishedClusters } from '@berth/placement/prior/published-clusters';
import { InputError } from '@berth/runtime/errors';
import {
  compareMerge,
  type ExpectedAddOn,
  type HeldAfterMerge,
  type MergeComparison,
  type PlacementAfterMerge,
} from '../../../core/preview/comment/merge-comparison.ts';
import type { CommentApproval } from '../../../core/preview/plan.ts';
import { activeHold, holdCode } from '../../../core/publish/approval/approval-code.ts';
import {
  HELD_CODE_ANNOTATION,
  HELD_MESSAGE_ANNOTATION,
  RELEASE_ANNOTATION,
  RELEASED_ANNOTATION,
  RELEASED_BY_ANNOTATION,
} from '../../../core/publish/approval/publish-annotations.ts';
import { parentOfSource } from '../../../core/sync/apply-set.ts';
import {
  readHeldAddOn,
  releaseAddOnRemovals,
  releaseDeletions,
  releasePlacement,
} from '../../releases/release-held.ts';
import type { PreviewMemory } from './preview-memory.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';

type HubParts = Pick<PullRequestPreviewsOptions, 'clock' | 'hub' | 'namespace' | 'snapshot'>;

type MergedPlan = Pick<PreviewMemory, 'expected' | 'later' | 'heldDeletions' | 'addOns'>;

/** Compares what is published and held now with what a plan said. */
export async function readMergedState(
  { clock, snapshot, hub, namespace }: HubParts,
  { expected, later = [], heldDeletions, addOns = [] }: MergedPlan,
  followedAtMs: number,
): Promise<MergeComparison> {
  const { placements, decisions } = snapshot();
  const { clusters } = new PublishedClusters().read(decisions);
  const published = new Map(
    placements.map((placement): [string, PlacementAfterMerge] => {
      const key = namespacedName(placement.metadata);
      const held = activeHold(placement);
      const hold = held && { reason: held.reason, message: held.message, token: holdCode(held.message) };
      return [key, { clusters: clusters.get(key) ?? [], hold }];
    }),
  );
  const plan = { expected, later, followedAtMs };
  const { held, differences } = compareMerge(plan, (placement) => published.get(placement), clock.now());
  const deletions: HeldAfterMerge[] = [];
  for (const { source, token: planned } of heldDeletions) {
    const parent = await hub.get(CONFIG_MAP, parentOfSource(source, namespace));
    const { [HELD_CODE_ANNOTATION]: token = '', [HELD_MESSAGE_ANNOTATION]: message = '' } =
      parent?.metadata.annotations ?? {};
    if (token !== '')
      deletions.push({ what: { deletionsOf: source }, token, message, isPlanned: token === planned });
  }
  const removals = await readAddOnRemovals(hub, addOns, held.length > 0);
  const { isUnderWay } = removals;
  return { held: [...held, ...deletions, ...removals.held], differences, isUnderWay };
}

/** @param isPlacementHeld a placement of the plan is held */
async function readAddOnRemovals(
  hub: KubeApi,
  addOns: readonly ExpectedAddOn[],
  isPlacementHeld: boolean,
): Promise<Required<Pick<MergeComparison, 'held' | 'isUnderWay'>>> {
  const held: HeldAfterMerge[] = [];
  let isUnderWay = false;
  for (const name of new Set(addOns.map(({ addOn }) => addOn))) {
    const planned = addOns.filter(({ addOn }) => addOn === name);
    const found = await readHeldAddOn(hub, name);
    const isPlanned = planned.some(({ heldToken }) => heldToken !== undefined && heldToken === found?.code);
    if (found !== undefined && (isPlanned || planned.every(({ onlyThisHold }) => onlyThisHold !== true))) {
      const { code: token, message, clusters: leaving } = found;
      held.push({ what: { addOn: name, leaving }, token, message, isPlanned });
    } else if (found === undefined) {
      const due = planned.filter(({ ifApproved }) => ifApproved !== true || !isPlacementHeld);
      isUnderWay ||= await isOnAny(
        hub,
        name,
        due.flatMap(({ clusters }) => clusters),
      );
    }
  }
  return { held, isUnderWay };
}

async function isOnAny(hub: KubeApi, name: string, clusters: readonly string[]): Promise<boolean> {
  for (const namespace of new Set(clusters))
    if ((await hub.get(MANAGED_CLUSTER_ADDON, { namespace, name })) !== undefined) return true;
  return false;
}

/**
 * Releases what is held, as far as it was approved. A code identifies exactly one change, so no other change is released.
 * @param subject the pull request
 * @returns whether something was released
 */
export async function releaseApproved(
  { clock, hub, namespace }: HubParts,
  held: readonly HeldAfterMerge[],
  approvals: readonly CommentApproval[],
  subject: string,
): Promise<boolean> {
  let isReleased = false;
  // An add-on leaves with its placements. When these are released, other clusters may leave, under another code.
  const addOns = held.filter(({ what }) => 'addOn' in what);
  for (const { what, token } of [...held.filter((one) => !addOns.includes(one)), ...addOns]) {
    if ('addOn' in what && isReleased) continue;
    const approval = approvals.find((one) => one.token === token);
    if (approval === undefined) continue;
    const releasedBy = `${approval.by} on ${subject} at ${new Date(clock.now()).toISOString()}`;
    const release = { code: approval.token, releasedBy };
    try {
      if ('deletionsOf' in what)
        await releaseDeletions(hub, { source: what.deletionsOf, namespace }, release);
      else if ('addOn' in what) await releaseAddOnRemovals(hub, what.addOn, release);
      else await releasePlacement(hub, keyOf(what.placement), release);
      isReleased = true;
    } catch (error) {
      // Nothing is held under this code any more, or not yet.
      if (!(error instanceof InputError)) throw error;
    }
  }
  return isReleased;
}

/** Who released a change, where and when. Undefined if nobody did. */
export async function releasedBy(
  { hub, namespace }: HubParts,
  { what, token }: Pick<HeldAfterMerge, 'what' | 'token'>,
): Promise<string | undefined> {
  if (token === undefined) return undefined;
  const object = await carrierOf(hub, what, namespace);
  const annotations = object?.metadata.annotations ?? {};
  const released = [annotations[RELEASED_ANNOTATION], annotations[RELEASE_ANNOTATION]].join();
  if (!released.includes(token)) return undefined;
  return annotations[RELEASED_BY_ANNOTATION] ?? 'an annotation in Git';
}

/** The object that says who released a change. */
function carrierOf(
  hub: KubeApi,
  what: HeldAfterMerge['what'],
  namespace: string,
): Promise<KubeObject | undefined> {
  if ('deletionsOf' in what) return hub.get(CONFIG_MAP, parentOfSource(what.deletionsOf, namespace));
  if ('addOn' in what) return hub.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: what.addOn });
  return hub.get(PLACEMENT, keyOf(what.placement));
}

function keyOf(placement: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = placement.split('/');
  return { namespace, name };
}
