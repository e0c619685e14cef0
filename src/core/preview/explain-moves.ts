import { decisionChanges } from '../explain/decision-changes.ts';
import { decidePlacement } from '../explain/verdict/decide.ts';
import type { DecisionChanges } from '../explain/verdict/explanation.ts';
import type { PlanJudges, PlanSide } from './plan-input.ts';
import { namespacedName } from '../model/object-ref.ts';
import type { World } from '../snapshot/world.ts';

/** Each explanation decides again, so that only the first changed placements of a huge change are explained. */
const MAX_EXPLAINED = 100;

/**
 * Why clusters move, and which changed object is behind it: what `berth explain` would say after the merge.
 * @param worldOf the world that a placement (`namespace/name`) is decided in after it
 */
export function moveExplainer(before: PlanSide, worldOf: (key: string) => World): PlanJudges['explain'] {
  const known = new Map<string, DecisionChanges | undefined>();
  const old = new Map(
    before.results.map((result) => [namespacedName(result.placement.metadata), result.selected]),
  );
  return (key, cluster, move) => {
    if (!known.has(key))
      known.set(key, known.size < MAX_EXPLAINED ? changesOf(key, old.get(key) ?? []) : undefined);
    const changes = known.get(key);
    const list = move === 'gained' ? changes?.gained : changes?.lost;
    const found = list?.find((change) => change.cluster === cluster);
    return { because: found?.because ?? '', causes: found?.causes ?? [] };
  };

  function changesOf(key: string, selected: readonly string[]): DecisionChanges | undefined {
    const slash = key.indexOf('/');
    const ref = { namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) };
    const decision = decidePlacement(worldOf(key), ref);
    if (decision === undefined) return undefined;
    return decisionChanges({
      ...decision,
      before: selected,
      worldBefore: before.world,
    });
  }
}
