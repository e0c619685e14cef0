import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DecisionIndex } from '../../src/prior/decision-index.ts';
import { ClusterIndex } from '../../src/snapshot/cluster-index.ts';

const CLUSTERS = ['a', 'b', 'c', 'd'];
/** Decided, but not in the fleet. */
const GONE = ['x', 'y'];
const KEYS = ['ns/one', 'ns/two', 'ns/three'];

function fleetOf(names: readonly string[]) {
  return names.map((name) => ({
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster' as const,
    metadata: { name },
  }));
}

function newIndex(clusters = fleetOf(CLUSTERS)): DecisionIndex {
  return new DecisionIndex(new ClusterIndex(clusters, []), []);
}

/** By counting everything again. */
function counted(lists: ReadonlyMap<string, readonly string[]>, without?: string) {
  const counts = new Map<string, number>();
  for (const [key, names] of lists)
    if (key !== without) for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return { counts, most: Math.max(0, ...counts.values()) };
}

describe('DecisionIndex', () => {
  const names = fc.constantFrom(...CLUSTERS, ...GONE);
  const step = fc.record({
    key: fc.constantFrom(...KEYS),
    names: fc.oneof(fc.uniqueArray(names), fc.array(names)),
  });

  it('counts as if everything were counted again after every change', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const decisionIndex = newIndex();
        const lists = new Map<string, readonly string[]>();
        for (const { key, names: list } of steps) {
          decisionIndex.put(key, decisionIndex.decisionsOf(list));
          lists.set(key, list);
          const { counts } = counted(lists);
          for (const name of [...CLUSTERS, ...GONE])
            expect(decisionIndex.counts[decisionIndex.numbersOf([name])[0] as number]).toBe(
              counts.get(name) ?? 0,
            );
          for (const other of KEYS) {
            const own = decisionIndex.own(other);
            expect(decisionIndex.withoutOwn(other).most).toBe(counted(lists, other).most);
            if (own.repeats.length === 0)
              expect(decisionIndex.maxCountWithout(own)).toBe(counted(lists, other).most);
          }
        }
      }),
    );
  });

  it('takes over what is published as if all of it were put again, whatever was decided in between', () => {
    const list = fc.oneof(fc.uniqueArray(names), fc.array(names));
    const round = fc.record({ decided: fc.array(step), published: fc.array(step), isTold: fc.boolean() });
    fc.assert(
      fc.property(fc.array(round, { minLength: 2, maxLength: 6 }), list, (rounds, foreign) => {
        const decisionIndex = newIndex();
        let published = new Map<string, readonly string[]>([['', foreign]]);
        decisionIndex.publish({ clusters: published, changed: undefined });
        for (const round of rounds) {
          for (const { key, names: list } of round.decided)
            decisionIndex.put(key, decisionIndex.decisionsOf(list));
          const next = new Map(published);
          for (const { key, names: list } of round.published)
            if (list.length > 4) next.delete(key);
            else next.set(key, list);
          const changed = new Set([...KEYS, ''].filter((key) => next.get(key) !== published.get(key)));
          published = next;
          decisionIndex.publish({ clusters: published, changed: round.isTold ? changed : undefined });
          const { counts } = counted(published);
          for (const name of [...CLUSTERS, ...GONE])
            expect(decisionIndex.counts[decisionIndex.numbersOf([name])[0] as number]).toBe(
              counts.get(name) ?? 0,
            );
          for (const key of KEYS)
            expect(decisionIndex.withoutOwn(key).most).toBe(counted(published, key).most);
        }
      }),
    );
  });

  it('counts lists that indexes of the same fleet and of another one count as well', () => {
    const use = fc.record({
      index: fc.nat(2),
      key: fc.constantFrom(...KEYS),
      list: fc.nat(3),
      isKnown: fc.boolean(),
    });
    const lists = fc.array(fc.oneof(fc.uniqueArray(names), fc.array(names)), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(lists, fc.array(use, { maxLength: 20 }), (given, uses) => {
        const [fleet, other] = [fleetOf(CLUSTERS), fleetOf(['b', 'x', 'z'])];
        const indexes = [newIndex(fleet), newIndex([...fleet].reverse()), newIndex(other)];
        const published = indexes.map(() => new Map<string, readonly string[]>());
        for (const { index, key, list, isKnown } of uses) {
          const decisionIndex = indexes[index] as DecisionIndex;
          const own = published[index] as Map<string, readonly string[]>;
          own.set(key, given[list] as readonly string[]);
          if (isKnown)
            decisionIndex.put(key, decisionIndex.knownDecisionsOf(given[list] as readonly string[]));
          else decisionIndex.publish({ clusters: own, changed: undefined });
          const { counts } = counted(own);
          for (const name of [...CLUSTERS, ...GONE, 'z'])
            expect(decisionIndex.counts[decisionIndex.numbersOf([name])[0] as number] ?? 0).toBe(
              counts.get(name) ?? 0,
            );
        }
      }),
    );
  });

  it('answers with the names that the decisions were given by', () => {
    const decisionIndex = newIndex();
    decisionIndex.put('ns/one', decisionIndex.decisionsOf(['x', 'b', 'b']));
    const [object] = decisionIndex.objects();
    expect(object?.status?.decisions?.map(({ clusterName }) => clusterName).sort()).toEqual(['b', 'b', 'x']);
    expect(decisionIndex.remove('ns/one').repeats).toHaveLength(1);
    expect(decisionIndex.objects()).toEqual([]);
  });
});
