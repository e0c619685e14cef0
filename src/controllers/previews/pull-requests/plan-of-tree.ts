import type { PreviewMemory } from './preview-memory.ts';

/**
 * Finds the plan of the merge that left this tree. Each way to merge leaves the same tree, as long as
 * the base is the one of the plan.
 * @returns the approval codes of the placements that change, by `namespace/name`; undefined if no plan
 *   predicted the tree
 */
export function planOfTree(
  memories: {
    readonly keys: () => readonly string[];
    readonly get: (key: string) => PreviewMemory | undefined;
  },
  tree: string,
): ReadonlyMap<string, readonly string[]> | undefined {
  const found = memories
    .keys()
    .map((key) => memories.get(key))
    .find((memory) => memory?.tree === tree && memory.head !== '');
  return (
    found &&
    new Map(
      found.expected.flatMap(({ placement, token: code }) =>
        code === undefined ? [] : [[placement, [code]]],
      ),
    )
  );
}
