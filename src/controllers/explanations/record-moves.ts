import { HistoryReader } from '../../adapters/store/history-reader.ts';
import { InputError } from '../../core/errors.ts';
import { decidePlacement } from '../../core/explain/verdict/decide.ts';
import { decisionChanges } from '../../core/explain/decision-changes.ts';
import type { DecisionChanges } from '../../core/explain/verdict/explanation.ts';
import type { DecisionRecord } from '../../core/publish/record/decision-record.ts';
import type { World } from '../../core/snapshot/world.ts';

type RecordRef = Pick<DecisionRecord, 'hash' | 'placement' | 'inputs'>;

/**
 * Explains why clusters were added and removed by records, and which objects caused it, by deciding again from the
 * inputs of a record and of the one before it. A record is omitted if one of the inputs is not stored; the first of a
 * placement has no moves.
 * @param all oldest first; `shown` are some of them
 * @returns by hash
 */
export async function movesOfRecords(
  historyDir: string,
  all: readonly RecordRef[],
  shown: readonly RecordRef[],
): Promise<ReadonlyMap<string, DecisionChanges>> {
  const reader = new HistoryReader(historyDir);
  // Worlds are large, and neighbouring records share them.
  let last: { readonly inputs: string; readonly world: World } | undefined;
  const readWorld = async (inputs: string): Promise<World> => {
    if (last?.inputs !== inputs) last = { inputs, world: await reader.readWorld(inputs) };
    return last.world;
  };
  const moves = new Map<string, DecisionChanges>();
  for (const record of shown) {
    const own = all.filter(({ placement }) => placement === record.placement);
    const previous = own[own.findIndex(({ hash }) => hash === record.hash) - 1];
    if (previous === undefined) continue;
    try {
      const before = await readWorld(previous.inputs);
      const changes = changesOf(record.placement, before, await readWorld(record.inputs));
      if (changes !== undefined) moves.set(record.hash, changes);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
    }
  }
  return moves;
}

function changesOf(placement: string, worldBefore: World, present: World): DecisionChanges | undefined {
  const [namespace = '', name = ''] = placement.split('/');
  const ref = { namespace, name };
  const decision = decidePlacement(present, ref);
  if (decision === undefined) return undefined;
  const earlier = decidePlacement(worldBefore, ref);
  const before = earlier?.decided.result.selected ?? [];
  // As they were when it was decided: with the new decisions of the placements before it.
  const decisions = earlier?.world.decisions ?? worldBefore.decisions;
  return decisionChanges({ ...decision, before, worldBefore: { ...worldBefore, decisions } });
}
