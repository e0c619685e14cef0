import type { PreviewRecord } from './preview-record.ts';

/**
 * What the plan said whose merge leaves this tree: however it is merged, the content is the same as long as the base is the one of the plan.
 * @returns by `namespace/name`, the plan tokens of placements that change; undefined: no plan says so
 */
export function planOfTree(
  records: {
    readonly keys: () => readonly string[];
    readonly get: (key: string) => PreviewRecord | undefined;
  },
  tree: string,
): ReadonlyMap<string, readonly string[]> | undefined {
  const found = records
    .keys()
    .map((key) => records.get(key))
    .find((record) => record?.tree === tree && record.head !== '');
  return (
    found &&
    new Map(
      found.expected.flatMap(({ placement, token }) => (token === undefined ? [] : [[placement, [token]]])),
    )
  );
}
