import { RENDERED_VERSION, versionNotes } from '@berth/applicationset/version-notes';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Placement } from '@berth/ocm/kind/placement';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { sha256 } from '@berth/runtime/sha256';
import { formatNameList } from '@berth/runtime/text/name-list';
import { APPLICATION_SET } from '../../core/argocd/argocd-kinds.ts';
import { withAddOnContents } from '../../core/preview/addons/addon-contents.ts';
import { addOnFutures, type AddOnPlanInput } from '../../core/preview/addons/plan-addons.ts';
import { makeMoveExplainer } from '../../core/preview/explain-moves.ts';
import { hubOnlyObjects } from '../../core/preview/hub-only-objects.ts';
import { makePlan } from '../../core/preview/make-plan.ts';
import type { PlanSide } from '../../core/preview/plan-input.ts';
import type { PlanJudge } from '../../core/preview/plan-judge.ts';
import type { Plan } from '../../core/preview/plan.ts';
import { lastingDecisions } from '../../core/preview/sides/overlay-snapshot.ts';
import { SideDecider } from '../../core/preview/sides/side-decider.ts';
import type { Transition } from '../../core/transition/transition.ts';
import { isOfOtherScheduler, withForeignDisabled } from '../inventory/schedulable-placement.ts';
import { planApplications } from './plan-applications.ts';
import { type ContentPlanInput, declaredSnapshots, planFutures } from './plan-futures.ts';

/** A plan, and the two sides that it compares. */
export interface PlannedContents {
  readonly plan: Plan;
  readonly before: PlanSide;
  readonly after: PlanSide;
}

/** Plans the change between two fleets, with the same engine, holds and explanations as after the merge. */
export function planContents(input: ContentPlanInput): PlannedContents {
  const { base, head, deletions = [] } = input;
  const hubOnly = hubOnlyObjects(base.fleet.objects, head.fleet.objects, deletions);
  const declared = declaredSnapshots(input, hubOnly.staying);
  const { base: baseSnapshot, head: headSnapshot } = declared;
  const { hub, others } = leavePlacementsToOthers(input, [
    ...baseSnapshot.placements,
    ...headSnapshot.placements,
  ]);
  const alone = leavePlacementsToOthers(input, baseSnapshot.placements);
  const { decider = new SideDecider() } = input;
  const { lasting: decisions, kept } =
    hub === undefined
      ? { lasting: decider.publishedBefore(baseSnapshot), kept: [] }
      : lastingDecisions(
          hub.decisions,
          [...hub.placements, ...baseSnapshot.placements],
          base.fleet.declared ?? base.fleet.objects,
        );
  const { transition, judge, waiting, laterWith, ...sides } = planFutures(
    { ...input, hub, decider },
    // Without the merge Berth may not decide a placement that only the head declares.
    { declared, hubOnly, decisions, kept, aloneHub: alone.others.length === others.length ? hub : alone.hub },
  );
  const addOns = addOnFutures({ ...addOnsOf(input), sides: [sides.before, sides.after] });
  const { before, after } = addOns;
  const later = laterWith(addOns.begin);
  const plan = explainedPlan([before, after], transition, { decider, judge });
  const isPublishedKnown =
    hub !== undefined || baseSnapshot.decisions.length > 0 || baseSnapshot.placements.length === 0;
  const notes = [
    ...otherSchedulersNote(others),
    ...(isPublishedKnown ? [] : [NOTHING_RECORDED]),
    ...(later.cutAt === undefined ? [] : [`Later changes were computed up to ${later.cutAt}.`]),
  ];
  const contents = withAddOnContents(plan, addOns, input.addOns);
  const held = addOns.held(plan.placements.filter((one) => one.held !== undefined).map(namespacedName));
  const hasChanges = plan.hasChanges || held.length > 0;
  const future = { waiting: [...waiting, ...addOns.waiting], later: later.changes };
  const complete = withApplications(
    { ...plan, ...contents, ...future, addOnsHeld: held, hasChanges },
    [before, after],
    input,
    [...declared.notes, ...notes],
  );
  return { plan: complete, before, after };
}

function addOnsOf({ addOns, addOnJudging, now }: ContentPlanInput): Omit<AddOnPlanInput, 'sides'> {
  const judging = addOnJudging && { ...addOnJudging, digest: sha256, nowMs: Date.parse(now) };
  return { hub: addOns, judging };
}

/** Which clusters move, why, and what holds them. */
function explainedPlan(
  [before, side]: readonly [before: PlanSide, after: PlanSide],
  { decidedIn, snapshot }: Pick<Transition, 'decidedIn' | 'snapshot'>,
  { decider, judge }: { readonly decider: SideDecider; readonly judge: PlanJudge },
): Plan {
  const { trials } = decider;
  const snapshotOf = (key: string): Snapshot => decidedIn.get(key) ?? snapshot;
  return decider.explaining(snapshot, (resumable) =>
    makePlan(before, side, {
      ...makeMoveExplainer(before, snapshotOf, { trials, resumable }),
      code: (key, from, to) => judge.code(key, from, to),
      judge: (key, from, result, definitionChanged) => judge.hold(key, from, result, definitionChanged),
    }),
  );
}

function withApplications(
  plan: Plan,
  [before, after]: readonly [before: PlanSide, after: PlanSide],
  { applications: context, rendered, whatIf = [] }: ContentPlanInput,
  notes: readonly string[],
): Plan {
  const applications = context === undefined ? [] : planApplications(before, after, context, rendered);
  rendered?.settle();
  return {
    ...plan,
    applications,
    whatIf: whatIf.map(({ text }) => text),
    hasChanges: plan.hasChanges || applications.some((set) => set.applications.length > 0),
    notEvaluated: [...plan.notEvaluated, ...notes, ...renderingNotes(applications, after)],
  };
}

function renderingNotes(sets: Plan['applications'], { declared, objects }: PlanSide): readonly string[] {
  if (sets.length === 0) return [];
  const inGit = (declared ?? objects).map(({ object }) => object);
  return [
    `Applications are rendered as Argo CD ${RENDERED_VERSION} does.`,
    ...sets.flatMap(({ namespace, name, notRendered }) => {
      const set = inGit.find(
        ({ kind, metadata }) =>
          kind === APPLICATION_SET.kind &&
          metadata.name === name &&
          (metadata.namespace ?? namespace) === namespace,
      );
      const differing = set === undefined ? [] : versionNotes(set, undefined);
      return [
        ...(notRendered === undefined ? [] : [`is not rendered: ${notRendered}`]),
        ...differing.map((note) => `is rendered otherwise by some versions: ${note}`),
      ].map((text) => `ApplicationSet ${namespace}/${name} ${text}`);
    }),
  ];
}

const NOTHING_RECORDED = 'No PlacementDecisions are recorded: what the base decides counts as published now.';

interface HubOfMany {
  /** Undefined without a hub. */
  readonly hub?: Snapshot | undefined;
  /** The placements on the hub that Berth decides. `own`: those of Git, and those marked as its own. Default: all. */
  readonly decides?: 'own' | 'all' | undefined;
}

interface SharedHub {
  readonly hub: Snapshot | undefined;
  /** `namespace/name` of the placements that another controller decides. */
  readonly others: readonly string[];
}

/** The hub as the controller will see it. @param inGit the placements that one of the commits declares */
function leavePlacementsToOthers(
  { hub, decides }: HubOfMany,
  inGit: readonly Pick<Placement, 'metadata'>[],
): SharedHub {
  if (hub === undefined || decides !== 'own') return { hub, others: [] };
  const declared = new Set(inGit.map(({ metadata }) => namespacedName(metadata)));
  const isOfOther = (placement: Placement): boolean =>
    !declared.has(namespacedName(placement.metadata)) && isOfOtherScheduler(placement);
  const placements = hub.placements.map((one) => (isOfOther(one) ? withForeignDisabled(one) : one));
  const others = hub.placements.filter(isOfOther).map(({ metadata }) => namespacedName(metadata));
  return { hub: { ...hub, placements }, others };
}

/** What a plan says about the placements that another controller decides. */
function otherSchedulersNote(others: readonly string[]): readonly string[] {
  if (others.length === 0) return [];
  const subject = others.length === 1 ? '1 placement' : `${others.length} placements`;
  return [
    `Another controller decides ${subject} on the hub: neither in Git nor marked with ${SCHEDULER_ANNOTATION}: berth. ` +
      `Their published decisions count as they are: ${formatNameList(others)}.`,
  ];
}
