import { InputError } from '../../core/errors.ts';
import { decisionChanges } from '../../core/explain/decision-changes.ts';
import type {
  DecisionChanges,
  PairExplanation,
  PlacementExplanation,
} from '../../core/explain/verdict/explanation.ts';
import { describePair } from '../../core/explain/words/describe-pair.ts';
import { describePlacement } from '../../core/explain/words/describe-placement.ts';
import { explainPair } from '../../core/explain/explain-pair.ts';
import { explainPlacement } from '../../core/explain/explain-placement.ts';
import { recordedClusters } from '../../core/explain/world/recorded-decisions.ts';
import type { PlacementRef } from '../../core/explain/world/world-change.ts';
import type { Problem } from '../../core/model/problem.ts';
import type { World } from '../../core/snapshot/world.ts';
import { closestName } from '../../core/sources/closest-name.ts';
import type { DecisionInWorld } from '../../core/explain/verdict/decide.ts';
import { decidePlacement } from '../../core/explain/verdict/decide.ts';
import type { OfflineSource, Surroundings } from './offline-world.ts';
import { readOfflineWorld } from './offline-world.ts';

export interface ExplainRequest {
  readonly cluster?: string | undefined;
  readonly from: string;
  readonly ref?: string | undefined;
  readonly since?: string | undefined;
  readonly case?: string | undefined;
  readonly caseName?: string | undefined;
  readonly now?: string | undefined;
}

export interface OfflineExplanation {
  readonly explanation: PlacementExplanation | PairExplanation;
  /** The same as text. */
  readonly lines: readonly string[];
  readonly problems: readonly Problem[];
}

/** Decides from files, a commit or a recorded case, and explains one placement, or one pair when a cluster is named. */
export async function explainOffline(
  ref: PlacementRef,
  request: ExplainRequest,
  around: Surroundings,
): Promise<OfflineExplanation> {
  const source: OfflineSource = {
    from: request.from,
    ref: request.ref,
    caseFile: request.case,
    caseName: request.caseName,
    now: request.now ?? new Date().toISOString(),
  };
  const { world, problems } = await readOfflineWorld(source, around);
  const before = await worldBefore(source, request, around);
  return { ...explainInWorld(world, ref, { cluster: request.cluster, before }), problems };
}

/** Explains one placement of a world, or one pair. InputError when there is no such placement. */
export function explainInWorld(
  given: World,
  ref: PlacementRef,
  ask: { readonly cluster?: string | undefined; readonly before?: World | undefined },
): Omit<OfflineExplanation, 'problems'> {
  const decision = decidePlacement(given, ref);
  if (decision === undefined) throw unknownPlacement(given, ref);
  if (ask.cluster !== undefined) {
    const pair = explainPair({ ...decision, cluster: ask.cluster });
    return { explanation: pair, lines: describePair(pair) };
  }
  const explanation = explainPlacement(
    decision.world,
    decision.decided,
    changesSince(decision, ref, ask.before),
  );
  return { explanation, lines: describePlacement(explanation) };
}

/** Compared with the earlier world if there is one, else with the recorded decisions. */
function changesSince(
  { world, decided }: DecisionInWorld,
  ref: PlacementRef,
  before: World | undefined,
): DecisionChanges | undefined {
  const selected =
    before === undefined
      ? recordedClusters(world, ref)
      : (decidePlacement(before, ref)?.decided.result.selected ?? []);
  if (before === undefined && selected.length === 0) return undefined;
  return decisionChanges({ world, decided, before: selected, worldBefore: before });
}

async function worldBefore(
  source: OfflineSource,
  { since }: ExplainRequest,
  around: Surroundings,
): Promise<World | undefined> {
  if (since === undefined) return undefined;
  return (await readOfflineWorld({ ...source, ref: since }, around)).world;
}

function unknownPlacement(world: World, { namespace, name }: PlacementRef): InputError {
  const names = world.placements.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
  const near = closestName(`${namespace}/${name}`, names);
  return new InputError('there is no such Placement', {
    code: 'explain.placement',
    subject: `Placement ${namespace}/${name}`,
    hint: near === undefined ? knownNames(names) : `did you mean ${near}?`,
  });
}

function knownNames(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `there are ${names.length}: ${names.slice(0, 5).join(', ')}`;
}
