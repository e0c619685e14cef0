import { compileCel } from '../../../../src/core/placement/filter/cel-hook.ts';
import type { FilterClasses } from '../../../../src/core/placement/filter/registry.ts';
import { indexWorld } from '../../../../src/core/placement/index/index-world.ts';
import { type Bitset, hasBit } from '../../../../src/core/snapshot/bitset.ts';
import type { World } from '../../../../src/core/snapshot/world.ts';

/** Names of the clusters that one filter lets pass for the first placement of a world. */
export function passing(
  world: World,
  filter: keyof FilterClasses,
): { readonly new: string; readonly decided: string } {
  const index = indexWorld(world, compileCel);
  const [placement] = world.placements;
  if (placement === undefined) throw new Error('the world has no placement');
  const { passNew, passDecided } = index.compile(placement)[filter];
  const names = (bits: Bitset): string => index.fleet.names.filter((_, at) => hasBit(bits, at)).join(' ');
  return { new: names(passNew), decided: names(passDecided) };
}
