import { listServed } from '@berth/kube/create-if-absent';
import {
  CLUSTER_MANAGEMENT_ADDON,
  CONFIG_MAP,
  LEASE,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Placement } from '@berth/ocm/kind/placement';
import { errorText, InputError } from '@berth/runtime/errors';
import { groupBy } from '@berth/runtime/lists/group-by';
import { compareText } from '@berth/runtime/text/compare-text';
import { heldRemoval } from '../../core/addon/install/held-removal.ts';
import { activeHold } from '../../core/publish/approval/approval-code.ts';
import {
  HELD_CODE_ANNOTATION,
  HELD_MESSAGE_ANNOTATION,
} from '../../core/publish/approval/publish-annotations.ts';
import {
  decisionPageOf,
  placementOfPage,
  publishedClusters,
} from '../../core/publish/pages/decision-page.ts';
import { isAnnounced, readDuties } from '../../core/registration/install/controller-announcement.ts';
import { parentOfSource } from '../../core/sync/apply-set.ts';
import { CONTROLLER_LEASES } from '../inventory/schedulable-placement.ts';
import { type AnnouncedSource, readAnnouncedSettings } from './announced-settings.ts';

/** What a hub says of the controllers that write to it. Plain JSON. */
export interface HubStatus {
  readonly controllers: readonly AnnouncedController[];
  readonly sources: readonly {
    readonly name: string;
    readonly url: string;
    /** Why deletions of the source wait. */
    readonly pruneHeld: string | undefined;
  }[];
  readonly placements: readonly {
    /** `namespace/name` */
    readonly placement: string;
    readonly clusters: number;
    readonly held: { readonly reason: string; readonly message: string } | undefined;
  }[];
  /** The add-ons that clusters keep because their removal is held. */
  readonly addOnsHeld: readonly { readonly addOn: string; readonly message: string }[];
  /** What could not be read. */
  readonly problems: readonly string[];
}

interface AnnouncedController {
  /** Of its Lease. */
  readonly name: string;
  /** Whether its announcement is younger than it is valid for. */
  readonly isRunning: boolean;
  readonly renewedAt: string;
  readonly decides: 'own' | 'all' | 'none';
}

/** @throws InputError when the placements cannot be read */
export async function readHubStatus(
  hub: Pick<KubeApi, 'get' | 'list' | 'resolve'>,
  nowMs: number,
): Promise<HubStatus> {
  const problems: string[] = [];
  const orNone = async <T>(read: Promise<readonly T[]>): Promise<readonly T[]> =>
    read.catch((error: unknown) => {
      if (!(error instanceof InputError)) throw error;
      problems.push(errorText(error));
      return [];
    });
  const [placements, pages, leases, addOnsHeld, settings] = await Promise.all([
    hub.list(PLACEMENT),
    hub.list(PLACEMENT_DECISION),
    orNone(hub.list(LEASE, CONTROLLER_LEASES).then(({ items }) => items)),
    orNone(readHeldAddOns(hub)),
    readAnnouncedSettings(hub),
  ]);
  const announced = new Map(settings.flatMap(({ sources }) => sources).map((one) => [one.name, one]));
  const sources = await Promise.all(
    [...announced.values()].map((source) => orNone(sourceStatus(hub, source).then((one) => [one]))),
  );
  return {
    controllers: leases.map((lease) => controllerOf(lease, nowMs)),
    sources: sources.flat(),
    placements: placementsOf(placements.items as unknown as readonly Placement[], pages.items),
    addOnsHeld,
    problems: [...new Set(problems)],
  };
}

function controllerOf(lease: KubeObject, nowMs: number): AnnouncedController {
  const { renewTime = '' } = (lease['spec'] ?? {}) as { readonly renewTime?: string };
  const { name } = lease.metadata;
  const isRunning = isAnnounced(lease, nowMs);
  return { name, isRunning, renewedAt: renewTime, decides: readDuties(lease).decides };
}

async function sourceStatus(
  hub: Pick<KubeApi, 'get'>,
  { name, url }: AnnouncedSource,
): Promise<HubStatus['sources'][number]> {
  const annotations = (await hub.get(CONFIG_MAP, parentOfSource(name)))?.metadata.annotations ?? {};
  const isHeld = (annotations[HELD_CODE_ANNOTATION] ?? '') !== '';
  return { name, url, pruneHeld: isHeld ? annotations[HELD_MESSAGE_ANNOTATION] : undefined };
}

async function readHeldAddOns(hub: Pick<KubeApi, 'list' | 'resolve'>): Promise<HubStatus['addOnsHeld']> {
  const items = await listServed(hub, CLUSTER_MANAGEMENT_ADDON);
  return items.flatMap((object) => {
    const held = heldRemoval(object);
    return held === undefined ? [] : [{ addOn: object.metadata.name, message: held.message }];
  });
}

function placementsOf(
  placements: readonly Placement[],
  pages: readonly KubeObject[],
): HubStatus['placements'] {
  const pagesOf = groupBy(pages, (page) => placementOfPage(page) ?? '');
  return placements
    .map((placement) => {
      const key = namespacedName(placement.metadata);
      const held = activeHold(placement);
      const own = (pagesOf.get(key) ?? []).map((page) => decisionPageOf(page, undefined));
      return {
        placement: key,
        clusters: publishedClusters(own).length,
        held: held && { reason: held.reason, message: held.message },
      };
    })
    .sort((a, b) => compareText(a.placement, b.placement));
}
