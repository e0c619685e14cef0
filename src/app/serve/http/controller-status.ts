import { problemText } from '../../../core/sources/describe-problem.ts';
import { activeHold } from '../../../core/publish/approval/approval-code.ts';
import { compareText } from '@berth/runtime/text/compare-text';
import { errorText } from '@berth/runtime/errors';
import type { Placement } from '@berth/ocm/kind/placement';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Leadership, LeadershipStatus } from '@berth/kube/leader-election/leadership';
import type { SourceStatus } from '../../../controllers/sources/following/followed-source.ts';
import type { RepositoryLoop } from '../../../controllers/sources/following/repository-loop.ts';
import type { HubInventory } from '../../../controllers/inventory/hub-inventory.ts';
import type { WorkSharesStatus } from '../../../controllers/works/work-shares.ts';
import type { PublishedPlacements } from '../../../core/publish/pages/published-placements.ts';
import type { Readiness } from './readiness.ts';
import type { ServeOptions } from '../../settings/serve-options.ts';

/** The status that `berth status` shows. Plain JSON. */
export interface ControllerStatus {
  readonly ready: boolean;
  readonly problem: string | undefined;
  readonly schedule: 'berth' | 'upstream';
  /** Role of this process; absent without leader election. */
  readonly leadership?: LeadershipStatus | undefined;
  /** Which share of the works this process writes; absent where the leader writes all. */
  readonly works?: WorkSharesStatus | undefined;
  /** Warnings for users, e.g. two controllers that decide the same placements. */
  readonly warnings: readonly string[];
  readonly sources: readonly SourceReport[];
  readonly placements: readonly PlacementReport[];
}

export interface SourceReport {
  readonly name: string;
  /** Whether the source is read without a git program. */
  readonly inProcess: boolean;
  readonly commit: string | undefined;
  readonly subject: string | undefined;
  readonly objects: number;
  readonly error: string | undefined;
  /** `path:line:column: what is wrong`. */
  readonly problems: readonly string[];
  readonly pruneHeld: string | undefined;
}

export interface PlacementReport {
  readonly placement: string;
  readonly clusters: number;
  readonly held: { readonly reason: string; readonly message: string } | undefined;
}

/** The status of the controller at this moment. */
export function controllerStatus(parts: {
  readonly options: Pick<ServeOptions, 'schedule'>;
  readonly inventory: HubInventory;
  readonly publishedPlacements: PublishedPlacements;
  readonly loops: readonly RepositoryLoop[];
  readonly hubProblem: () => string | undefined;
  readonly warnings: () => readonly string[];
  readonly readiness: Readiness;
  readonly leadership: Leadership;
  readonly shares: () => WorkSharesStatus | undefined;
}): ControllerStatus {
  const problem = parts.readiness.problem();
  const hub = parts.hubProblem();
  return {
    ready: problem === undefined,
    problem,
    schedule: parts.options.schedule ?? 'berth',
    leadership: parts.leadership.status(),
    works: parts.shares(),
    warnings: [
      ...(hub === undefined ? [] : [`hub: ${hub}; what is published stays as it is`]),
      ...parts.warnings(),
    ],
    sources: parts.loops.flatMap((loop) => loop.status().map(sourceReport)),
    placements: parts.inventory.placements.store
      .list()
      .map((object) => placementReport(object as unknown as Placement, parts))
      .sort((a, b) => compareText(a.placement, b.placement)),
  };
}

function sourceReport({ name, inProcess, content, outcome, lastError }: SourceStatus): SourceReport {
  const readProblems = (content?.problems ?? []).map(problemText);
  const syncProblems = (outcome?.problems ?? []).map(
    ({ object, message, location }) =>
      `${location === undefined ? '' : `${location}: `}${object}: ${message}`,
  );
  return {
    name,
    inProcess,
    commit: content?.commit?.id,
    subject: content?.commit?.subject,
    objects: content?.objects.length ?? 0,
    error: lastError === undefined ? undefined : errorText(lastError),
    problems: [...readProblems, ...syncProblems],
    pruneHeld: outcome?.pruneHeld?.message,
  };
}

function placementReport(
  placement: Placement,
  {
    publishedPlacements,
    options,
  }: {
    readonly publishedPlacements: PublishedPlacements;
    readonly options: Pick<ServeOptions, 'schedule'>;
  },
): PlacementReport {
  const key = namespacedName(placement.metadata);
  // If OCM decides, a hold is left over from when Berth did.
  const held = options.schedule === 'upstream' ? undefined : activeHold(placement);
  return {
    placement: key,
    clusters: (publishedPlacements.get(key)?.groups ?? []).reduce(
      (sum, group) => sum + group.decisions.length,
      0,
    ),
    held: held === undefined ? undefined : { reason: held.reason, message: held.message },
  };
}
