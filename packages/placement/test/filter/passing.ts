import { indexSnapshot } from '../../src/engine.ts';
import { compileCel } from '../../src/filter/cel-hook.ts';
import type { FilterClasses } from '../../src/filter/feasible.ts';
import { type Bitset, hasBit } from '../../src/snapshot/bitset.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';

/** Names of the clusters that one filter lets pass for the first placement of a snapshot. */
export function passing(
  snapshot: Snapshot,
  filter: keyof FilterClasses,
): { readonly new: string; readonly decided: string } {
  const index = indexSnapshot(snapshot, compileCel);
  const [placement] = snapshot.placements;
  if (placement === undefined) throw new Error('the snapshot has no placement');
  const { passNew, passDecided } = index.compile(placement)[filter];
  const names = (bits: Bitset): string =>
    index.clusterIndex.names.filter((_, at) => hasBit(bits, at)).join(' ');
  return { new: names(passNew), decided: names(passDecided) };
}
