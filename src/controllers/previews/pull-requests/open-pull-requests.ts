import type { PullRequest } from '@berth/forge/contract/pull-request-forge';
import { lostAddOns } from '../../../core/preview/addons/plan-addons.ts';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import { type FinishedTrace, OpenTrace } from '@berth/runtime/open-trace';
import { sha256 } from '@berth/runtime/sha256';
import { fleetMapSvg } from '../../../core/preview/comment/fleet-map.ts';
import { approvalCommand } from '../../../core/preview/comment/approval-blocks.ts';
import { heldCodes, type PreviewOutcome } from '../../../core/preview/comment/preview-outcome.ts';
import type { ExpectedAddOn } from '../../../core/preview/comment/merge-comparison.ts';
import { renderComment } from '../../../core/preview/comment/render-comment.ts';
import { jointCode } from '../../../core/publish/approval/approval-code.ts';
import {
  deniedChange,
  type DeniedChange,
  overrideRules,
  type RuleOverride,
} from '../../../core/preview/rules/override-rules.ts';
import { laterRollouts } from '../../../core/preview/later/later-texts.ts';
import type { Plan } from '../../../core/preview/plan.ts';
import { lapsedApprovals, lapsedText } from './lapsed-approvals.ts';
import type { PlannedPullRequest } from './plan-pull-request.ts';
import { NO_MEMORY, type PreviewMemory } from './preview-memory.ts';
import { PLANNING, type PreviewStatuses, type Reported } from './preview-statuses.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';
import { previewMarker, writeStickyComment } from './sticky-comment.ts';

/**
 * A plan waits at most this long for the hub to follow the base. Then it is made anyway: the hub may be unable to follow,
 * and this pull request may be what repairs that.
 */
const MAX_FOLLOW_WAIT_MS = 30_000;

/** Of earlier plans, whose approval gets an answer that says so. */
const MAX_PAST_CODES = 50;
/** What decisions read besides placements. */
const FLEET_KINDS = [
  'ManagedCluster',
  'ManagedClusterSet',
  'ManagedClusterSetBinding',
  'AddOnPlacementScore',
];
/** How many rollouts of a plan are remembered until the merge. */
const MAX_ROLLOUTS = 20;

const NOTHING = {
  ...{ deletionsHeld: [], addOnsHeld: [], later: [], objects: [], rollouts: [], workloads: [] },
} as const;
/** Forges show at most 140 characters of a status. */
const HOW_TO_PLAN = 'Who may write to this repository can comment /berth plan';

/** The commits of a pull request that waits, and since when. */
interface Waiting {
  readonly head: string;
  readonly base: string;
  readonly sinceMs: number;
}

/** Handles open pull requests. Each gets a plan of its head, which is shown in one comment, a report and statuses. */
export class OpenPullRequests {
  readonly #options: PullRequestPreviewsOptions;
  readonly #statuses: PreviewStatuses;
  readonly #followed: () => string | undefined;
  /** By number. */
  readonly #waiting = new Map<number, Waiting>();

  /** @param followed full id of the commit that the hub follows */
  constructor(
    options: PullRequestPreviewsOptions,
    statuses: PreviewStatuses,
    followed: () => string | undefined,
  ) {
    this.#options = options;
    this.#statuses = statuses;
    this.#followed = followed;
  }

  /**
   * Plans the pull request, unless its head and base were already planned on this state of the hub, and reports the
   * plan.
   * @throws the errors of the forge, and an error if no plan can be made
   */
  async preview(pull: PullRequest, signal: AbortSignal): Promise<void> {
    const { traces, clock } = this.#options;
    const trace = traces && new OpenTrace(traces, { ...this.#traceOf(pull), startMs: clock.now() });
    try {
      await this.#preview(pull, signal, trace);
    } catch (error) {
      if (!signal.aborted) trace?.end(clock.now(), { error });
      throw error;
    }
  }

  /** @param trace ended here if a plan was made; dropped if none was needed */
  async #preview(pull: PullRequest, signal: AbortSignal, trace: OpenTrace | undefined): Promise<void> {
    const { number, headCommit, draft, fromFork, baseBranch } = pull;
    const { rules, repository, source, clock, log } = this.#options;
    const before = this.#memory(number);
    if (before.allowedHead !== headCommit) {
      const skip = (why: string): Promise<void> => this.#skip(pull, why, signal);
      if (draft && !rules.drafts) return skip(`Not planned: it is a draft. ${HOW_TO_PLAN}`);
      if (fromFork && rules.forks === 'off')
        return skip(`Not planned: the head is in a fork. ${HOW_TO_PLAN}`);
    }
    trace?.begin('fetch', clock.now());
    const base = await repository.fetchBranch(baseBranch, signal);
    // The forge has merged it but does not report so yet. The plan is kept, to be compared with the result.
    if (isPlannedOnOlderBase(before, pull, base) && (await this.#isMergedInto(base, pull, signal))) return;
    if (await this.#waitsFor(base, pull, signal)) return;
    const isAnswered =
      before.head === headCommit &&
      before.base === base &&
      before.asked === before.answered &&
      before.statuses !== undefined &&
      before.endedAtMs === undefined;
    const state = this.#options.hubState();
    if (isAnswered && (before.planned === undefined || before.planned.state === state)) return;
    const startedMs = clock.now();
    trace?.begin('wait for decisions', startedMs);
    // A required status must not flicker when the hub changes. It changes only with the plan.
    if (!isAnswered) await this.#announce(pull, PLANNING, signal);
    await this.#options.whenPublished(signal);
    const planningMs = clock.now();
    trace?.begin('plan', planningMs);
    const planned = await this.#options.plan(pull, base, signal);
    const plannedMs = clock.now() - planningMs;
    // The signal aborts when a newer head is to be planned instead.
    if (signal.aborted) return;
    const digest = outcomeDigest(planned);
    const isSame = isAnswered && before.planned?.digest === digest;
    if (!isSame) {
      trace?.begin('comment', clock.now());
      await this.#write(pull, base, planned, signal);
    }
    trace?.end(clock.now());
    this.#save(number, { ...this.#memory(number), planned: { state, digest } });
    if (isSame) return;
    log.info('pull request was planned', {
      source,
      number,
      head: headCommit,
      plannedMs,
      tookMs: clock.now() - startedMs,
    });
  }

  #traceOf({ number, headCommit }: PullRequest): Pick<FinishedTrace, 'name' | 'attributes'> {
    const { repositoryName, source } = this.#options;
    return {
      name: 'preview pull request',
      attributes: {
        'vcs.repository.name': repositoryName,
        'vcs.change.id': String(number),
        'vcs.ref.head.revision': headCommit,
        'berth.sources': [source],
      },
    };
  }

  /** On a hub that does not follow the base, a plan would mix this change with those of the base. */
  async #waitsFor(base: string, pull: PullRequest, signal: AbortSignal): Promise<boolean> {
    const { number, headCommit: head } = pull;
    const { clock, queue, source } = this.#options;
    const known = this.#waiting.get(number);
    if (this.#followed() === base) {
      this.#waiting.delete(number);
      return false;
    }
    const sinceMs = known?.head === head ? known.sinceMs : clock.now();
    const leftMs = sinceMs + MAX_FOLLOW_WAIT_MS - clock.now();
    this.#waiting.set(number, { head, base, sinceMs });
    if (leftMs <= 0) return false;
    // When the hub follows, all open pull requests are planned again.
    queue.addAfter({ source, number }, leftMs);
    if (known?.head !== head || known.base !== base)
      await this.#announce(pull, `Waiting for the hub to follow ${base.slice(0, 12)}`, signal);
    return true;
  }

  async #announce(pull: PullRequest, description: string, signal: AbortSignal): Promise<void> {
    const { number, headCommit } = pull;
    // Saved first: a status that was perhaps not written is replaced as well when the pull request is closed.
    this.#save(number, { ...this.#memory(number), planning: headCommit });
    await this.#statuses.pending(reported(pull), description, signal);
  }

  /**
   * The pull request was closed. A head that was not planned to the end must not keep the status of a plan that is being made.
   * @throws the errors of the forge
   */
  async close(pull: PullRequest, signal: AbortSignal): Promise<void> {
    const { number, headCommit } = pull;
    this.#waiting.delete(number);
    if (this.#memory(number).planning !== headCommit) return;
    await this.#statuses.pending(reported(pull), 'Not planned: it was closed', signal);
    this.#save(number, { ...this.#memory(number), planning: undefined });
  }

  async #isMergedInto(base: string, { headCommit }: PullRequest, signal: AbortSignal): Promise<boolean> {
    const { repository } = this.#options;
    return repository.holds(base, await repository.fetchCommit(headCommit, signal));
  }

  /** Reports once why there is no plan. A plan is made when an account with write access asks for it. */
  async #skip(pull: PullRequest, why: string, signal: AbortSignal): Promise<void> {
    const before = this.#memory(pull.number);
    if (before.head === pull.headCommit && before.base === '') return;
    await this.#statuses.pending(reported(pull), why, signal);
    this.#save(pull.number, { ...before, head: pull.headCommit, base: '', endedAtMs: undefined });
  }

  async #write(
    pull: PullRequest,
    base: string,
    { outcome: planned, map, expected, tree }: PlannedPullRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const { number, headCommit } = pull;
    const { forge, reports, source, repositoryName } = this.#options;
    const before = this.#memory(number);
    const { approvals } = before;
    const { outcome, denied } = withOverrides(planned, before.overrides ?? []);
    const codes = outcome.kind === 'planned' ? heldCodes(outcome.plan) : [];
    const lapsed = await lapsedApprovals(this.#options, before, { pull, base, outcome, denied });
    // On the disk before the comment is written: if this process ends between the two, the next one still compares the
    // merge with the plan.
    await this.#options.memories.persist(String(number), {
      ...this.#memory(number),
      ...{ head: headCommit, base, tree, expected, lapsed, denied },
      ...memoryOf(outcome, before),
      ...{ statuses: undefined, endedAtMs: undefined },
    });
    const key = { source, number };
    const commands = { digest: sha256, rules: this.#options.rules };
    const { title, authorName, url } = pull;
    const pullRequest = { title, authorName, url };
    const approve =
      outcome.kind === 'planned' ? approvalCommand(outcome.plan, { approvals, commands }) : undefined;
    const plan = { subject: `${repositoryName}#${number}`, pullRequest, outcome, approvals, approve };
    await reports.write(key, { map: map && fleetMapSvg(map), plan });
    const links = reports.linksTo(key);
    const marker = previewMarker(source);
    const text = renderComment({
      ...{ marker, outcome, approvals, map, links },
      head: headCommit,
      commands,
      notes: lapsed.map(lapsedText),
      maxLength: forge.maxCommentLength,
    });
    const comment = await writeStickyComment(
      forge,
      { number, marker: `<!-- ${marker} -->`, known: before.comment },
      text,
      signal,
    );
    // An approval belongs to one change: it counts by its code, and ends with the plan that has this code.
    const now = this.#memory(number);
    this.#save(number, {
      ...now,
      ...{ comment, answered: before.asked },
      overrides: now.overrides?.filter(({ change }) => change === denied?.change),
      approvals: now.approvals.filter(({ token: code }) => codes.includes(code)),
    });
    const statuses = await this.#statuses.planned(
      reported(pull),
      { outcome, approvals, summary: text, targetUrl: links?.report },
      before.head === headCommit ? (before.statuses ?? []) : [],
      signal,
    );
    this.#save(number, { ...this.#memory(number), statuses, planning: undefined });
  }

  #memory(number: number): PreviewMemory {
    return this.#options.memories.get(String(number)) ?? NO_MEMORY;
  }

  #save(number: number, memory: PreviewMemory): void {
    this.#options.memories.set(String(number), memory);
  }
}

/** The outcome with the overrides of rules that are for this change, and what rules deny without them. */
export function withOverrides(
  outcome: PreviewOutcome,
  overrides: readonly RuleOverride[],
): { readonly outcome: PreviewOutcome; readonly denied: DeniedChange | undefined } {
  if (outcome.kind === 'unplanned') return { outcome, denied: undefined };
  const denied = deniedChange(sha256, outcome.plan);
  return { outcome: { ...outcome, plan: overrideRules(outcome.plan, denied, overrides) }, denied };
}

/** What is remembered of a plan. */
function memoryOf(
  outcome: PreviewOutcome,
  before: PreviewMemory,
): Pick<
  PreviewMemory,
  'heldDeletions' | 'addOns' | 'later' | 'laterRollouts' | 'changesFleet' | 'pastCodes'
> {
  const plan = outcome.kind === 'planned' ? outcome.plan : NOTHING;
  const { deletionsHeld, later, objects, rollouts } = plan;
  const staged = laterRollouts({ rollouts }).slice(0, MAX_ROLLOUTS);
  const codes = outcome.kind === 'planned' ? heldCodes(outcome.plan) : [];
  const earlier = heldCodesOf(before);
  // With the one code that the comment showed for all of them.
  const past = [...(before.pastCodes ?? []), ...earlier, jointCode(sha256, earlier) ?? ''].filter(
    (code) => code !== '' && !codes.includes(code),
  );
  return {
    addOns: expectedAddOns(plan),
    ...{ heldDeletions: deletionsHeld, later, pastCodes: [...new Set(past)].slice(-MAX_PAST_CODES) },
    laterRollouts: staged.length === 0 ? undefined : staged,
    changesFleet: objects.some(({ ref }) => FLEET_KINDS.includes(ref.kind)) ? true : undefined,
  };
}

/** The add-ons that clusters lose, or would. */
function expectedAddOns({
  addOnsHeld,
  workloads,
}: Pick<Plan, 'addOnsHeld' | 'workloads'>): readonly ExpectedAddOn[] {
  return [
    ...addOnsHeld.map(({ addOn, clusters, ifApproved, token: heldToken }) => ({
      ...{ addOn, clusters, heldToken },
      ...(ifApproved && { ifApproved }),
    })),
    ...lostAddOns(workloads).map(({ name: addOn, removed: clusters }) => ({ addOn, clusters })),
  ];
}

function heldCodesOf({ expected, heldDeletions, addOns = [] }: PreviewMemory): readonly string[] {
  const codes = [...expected, ...addOns].map(({ heldToken }) => heldToken);
  return [...codes, ...heldDeletions.map(({ token }) => token)].filter((code) => code !== undefined);
}

function isPlannedOnOlderBase(memory: PreviewMemory, { headCommit }: PullRequest, base: string): boolean {
  return memory.head === headCommit && memory.base !== '' && memory.base !== base;
}

function reported({ number, headCommit }: PullRequest): Reported {
  return { commit: headCommit, pullRequest: number };
}

/** A digest of what a plan says, without the commits and the time that it was made from. */
function outcomeDigest({ outcome }: Pick<PlannedPullRequest, 'outcome'>): string {
  const content =
    outcome.kind === 'planned' ? { ...outcome, plan: { ...outcome.plan, now: '', token: '' } } : outcome;
  return sha256(canonicalJson(content));
}
