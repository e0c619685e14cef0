import type { WorkContent } from '../../core/preview/inventory/work-content.ts';
import { type JudgedDeletions, withoutWaiting } from '../../core/preview/judged-deletions.ts';
import type { Plan } from '../../core/preview/plan.ts';
import type { MergedSources } from '../../core/preview/sides/merge-sources.ts';
import { type HeldSides, withoutRefusedDeletions } from './held/held-sides.ts';
import type { HubTrials } from './held/hub-trials.ts';
import { type JudgedInput, judgeSources, type ReadFleets } from './judge-deletions.ts';

type JudgedFleets = readonly JudgedDeletions[];

/** All sources together, as the hub has them before and after. */
export type ReadSides = HeldSides & Pick<MergedSources, 'ownerOf' | 'budgetOf'>;

/** What leaves the hub because of a merge, and what leaves it without. */
interface LeavingObjects
  extends Pick<Awaited<ReturnType<typeof withoutRefusedDeletions>>, 'refused' | 'notes'> {
  readonly deletions: JudgedFleets;
  /** What leaves without the merge. */
  readonly due: JudgedFleets;
  readonly waiting: Plan['waiting'];
}

/** What leaves the hub because of the merge. */
export async function judgeLeaving(
  input: JudgedInput & { readonly trials?: HubTrials | undefined },
  fleets: readonly [ReadFleets, ReadFleets],
  { ownerOf, refusedOf, base, head, held }: ReadSides,
  { now, content }: { readonly now: string; readonly content: WorkContent },
): Promise<LeavingObjects> {
  const judging = { ...input, refusedOf };
  const merged = { base: base.objects, head: head.objects, after: held.after };
  const judged = await judgeSources({ ...judging, held: merged }, fleets, { ownerOf, now });
  const alone = { base: base.objects, head: base.objects, after: held.before };
  const due = await judgeDue({ ...judging, held: alone }, fleets[0], judged, { ownerOf, now });
  const { judged: own, waiting } = withoutWaiting(judged, due);
  const { deletions, refused, notes } = await withoutRefusedDeletions(own, input.trials);
  const restored = (one: JudgedDeletions): JudgedDeletions => withContent(one, content);
  return { deletions: deletions.map(restored), due: due.map(restored), waiting, refused, notes };
}

/** The deletions of every source without the merge; empty if there are none: the hub has nothing that left the base. */
async function judgeDue(
  input: JudgedInput,
  bases: ReadFleets,
  judged: JudgedFleets,
  known: Parameters<typeof judgeSources>[2],
): Promise<JudgedFleets> {
  return judged.every(({ left }) => left.length === 0) ? [] : judgeSources(input, [bases, bases], known);
}

/** An inventory omits the content of works. */
function withContent(judged: JudgedDeletions, content: WorkContent): JudgedDeletions {
  return {
    ...judged,
    left: judged.left.map((object) => content.restore(object)),
    withdrawn: judged.withdrawn.map((one) => ({ ...one, after: content.restore(one.after) })),
  };
}
