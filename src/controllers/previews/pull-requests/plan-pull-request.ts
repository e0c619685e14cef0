import { type BerthError, InputError } from '@berth/runtime/errors';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Placement } from '@berth/ocm/kind/placement';
import { PublishedClusters } from '@berth/placement/prior/published-clusters';
import type { PullRequest } from '@berth/forge/contract/pull-request-forge';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { type FleetMap, fleetMap } from '../../../core/preview/comment/fleet-map.ts';
import type { ExpectedPlacement } from '../../../core/preview/comment/merge-comparison.ts';
import type { PreviewOutcome } from '../../../core/preview/comment/preview-outcome.ts';
import type { Plan } from '../../../core/preview/plan.ts';
import type { RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { PlannedRevisions, PlanRevisionsInput } from '../plan-revisions.ts';
import type { PlannedSource } from '../source-readings.ts';
import { notAskedNote } from '../held/hub-trials.ts';
import { readRecordedHubState } from '../recorded-hub-state.ts';
import type { PreviewRepository } from './preview-repository.ts';

export interface PullRequestPlannerOptions {
  readonly api: KubeApi;
  /** The sources in the repository that follow the branch. */
  readonly sources: readonly PlannedSource[];
  readonly repository: PreviewRepository;
  readonly snapshot: () => Snapshot;
  readonly headsOf: PlanRevisionsInput['headsOf'];
  /** Asks the hub what it would hold. Never used for a fork. Absent: as the settings say, it is not asked. */
  readonly trials: PlanRevisionsInput['trials'];
  /** The current context for rendering ApplicationSets. */
  readonly argoPart: () => Promise<Pick<PlanRevisionsInput, 'applications' | 'argocdClusters' | 'notes'>>;
  /** Why the known state of the hub may be outdated; undefined if it is current. */
  readonly staleness: () => string | undefined;
  /** The leases that agents are late to renew, where this process gives such agents up. */
  readonly overdue: () => NonNullable<PlanRevisionsInput['overdue']>;
  readonly decides: 'own' | 'all';
  readonly addOns: PlanRevisionsInput['addOns'];
  readonly budgetOf: (placement: Placement) => RemovalBudget | undefined;
  /** Version of Berth, for the digest of the plan. */
  readonly engine: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Plans within the bounds. */
  readonly planWithin: (input: PlanRevisionsInput, signal: AbortSignal) => Promise<PlannedRevisions>;
}

export interface PlannedPullRequest {
  readonly outcome: PreviewOutcome;
  readonly map: FleetMap | undefined;
  readonly expected: readonly ExpectedPlacement[];
  /** See `PlannedRevisions`. */
  readonly tree?: string | undefined;
}

/**
 * Plans what merging a pull request changes on the current hub. Problems of the pull request itself are outcomes, not
 * errors: conflicts, an exceeded bound, or commits that cannot be read.
 * @throws TransientError when the forge or the hub does not respond
 */
export async function planPullRequest(
  options: PullRequestPlannerOptions,
  { headCommit, baseBranch, fromFork }: Pick<PullRequest, 'headCommit' | 'baseBranch' | 'fromFork'>,
  baseCommit: string,
  signal: AbortSignal,
): Promise<PlannedPullRequest> {
  const { repository, api, headsOf, sources, decides, addOns, budgetOf, engine, env } = options;
  try {
    await repository.fetchCommit(headCommit, signal);
    const hub = options.snapshot();
    const input = {
      folder: repository.gitDir,
      base: baseCommit,
      head: headCommit,
      sources,
      fromMergeBase: false,
      hub,
      now: hub.now,
      overdue: options.overdue(),
      hubApi: api,
      headsOf,
      hubMemory: await readRecordedHubState(
        api,
        sources.map(({ name }) => name),
      ),
      ...{ decides, addOns, budgetOf, engine },
      ...(await options.argoPart()),
      ambient: env,
      runsPrograms: !fromFork,
      trials: fromFork ? undefined : options.trials,
      onProgress: () => undefined,
    };
    const { plan, problems, tree } = await options.planWithin(input, signal);
    const stale = options.staleness();
    const named: Plan = {
      ...plan,
      base: { ...plan.base, name: baseBranch },
      notEvaluated: [
        ...(stale === undefined ? [] : [`The plan uses the last known state of the hub: ${stale}.`]),
        ...(input.trials === undefined
          ? [notAskedNote(fromFork ? 'for a fork' : 'as its settings say')]
          : []),
        ...plan.notEvaluated,
      ],
    };
    return {
      outcome: { kind: 'planned', plan: named, problems, summaryOnly: fromFork },
      map: fleetMap(named),
      expected: expectedOf(named, hub),
      tree,
    };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { outcome: unplanned(error, headCommit, baseCommit, baseBranch), map: undefined, expected: [] };
  }
}

function unplanned(
  { message, subject, code, hint }: BerthError,
  headCommit: string,
  baseCommit: string,
  baseBranch: string,
): PreviewOutcome {
  const named = (text: string): string =>
    text.replaceAll(headCommit, 'the pull request').replaceAll(baseCommit, baseBranch);
  // The message of a problem of the plan itself becomes the rest of a sentence.
  const text = code.startsWith('plan.') ? message.replace(`${subject}: `, `${lowered(subject)} `) : message;
  // The hint is for a command line. At a forge, people push to a branch.
  const advice =
    code === 'plan.conflict'
      ? `merge ${baseBranch} into the branch of this pull request, resolve the conflict, and push`
      : hint;
  return { kind: 'unplanned', message: named(text), hint: advice === undefined ? undefined : named(advice) };
}

function lowered(subject: string): string {
  return subject.startsWith('The ') ? `the ${subject.slice('The '.length)}` : subject;
}

function expectedOf({ placements }: Plan, hub: Snapshot): readonly ExpectedPlacement[] {
  const { clusters: published } = new PublishedClusters().read(hub.decisions);
  return placements.map(({ namespace, name, added, removed, held, token: code }) => {
    const placement = namespacedName({ namespace, name });
    const before = published.get(placement) ?? [];
    const gone = new Set(removed.map(({ cluster }) => cluster));
    const after = [...before.filter((cluster) => !gone.has(cluster)), ...added.map(({ cluster }) => cluster)];
    return { placement, before, after, token: code, heldToken: held === undefined ? undefined : code };
  });
}
