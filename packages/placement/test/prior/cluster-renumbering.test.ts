import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DecisionIndex } from '../../src/prior/decision-index.ts';
import { listDecisions, sameDecisions } from '../../src/prior/own-decisions.ts';
import { bitsToArray } from '../../src/snapshot/bitset.ts';
import { ClusterIndex } from '../../src/snapshot/cluster-index.ts';

const NAMES = Array.from({ length: 80 }, (_, at) => `c${String(at).padStart(2, '0')}`);

function fleetOf(names: readonly string[]): ClusterIndex {
  const clusters = names.map((name) => ({
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster' as const,
    metadata: { name },
  }));
  return new ClusterIndex(clusters, []);
}

function countOf(index: DecisionIndex, name: string): number {
  return index.counts[index.numbersOf([name])[0] as number] ?? 0;
}

describe('an index of decisions over another fleet', () => {
  const fleet = fc.subarray(NAMES).map(fleetOf);
  const decided = fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 40 });

  it('equals one that was made for it, whatever clusters came and went', () => {
    fc.assert(
      fc.property(
        fleet,
        fc.array(fleet, { minLength: 1, maxLength: 3 }),
        fc.array(decided),
        (first, next, lists) => {
          let index = new DecisionIndex(first, []);
          const published = new Map(lists.map((list, at) => [`ns/p${at}`, list]));
          index.publish({ clusters: published, changed: undefined });
          for (const to of next) {
            const { decisionIndex } = index.renumberFor(to);
            const fresh = new DecisionIndex(to, []);
            decisionIndex.publish({ clusters: published, changed: undefined });
            fresh.publish({ clusters: published, changed: undefined });
            for (const [key, list] of published) {
              const own = decisionIndex.own(key);
              const names = [...listDecisions(own)].map((number) => decisionIndex.nameOf(number));
              expect(names.toSorted()).toEqual(list.toSorted());
              expect(decisionIndex.maxCountWithout(own)).toBe(fresh.maxCountWithout(fresh.own(key)));
              expect(sameDecisions(own, decisionIndex.decisionsOf(list))).toBe(true);
            }
            for (const name of NAMES) expect(countOf(decisionIndex, name)).toBe(countOf(fresh, name));
            index = decisionIndex;
          }
        },
      ),
    );
  });

  it('knows which clusters joined, and moves sets and scores with them', () => {
    fc.assert(
      fc.property(fleet, fleet, decided, (before, after, names) => {
        const index = new DecisionIndex(before, []);
        const { bits, gone } = index.decisionsOf(names);
        const { numbers } = index.renumberFor(after);
        const joined = numbers.joined.map((number) => after.names[number]);
        expect(joined).toEqual(after.names.filter((name) => before.numberOf(name) === undefined));
        const here = names.filter((name) => before.numberOf(name) !== undefined);
        const stay = here.filter((name) => after.numberOf(name) !== undefined);
        expect([...bitsToArray(numbers.bits(bits))].map((number) => after.names[number])).toEqual(
          stay.toSorted(),
        );
        expect(numbers.hasLeft(bits)).toBe(stay.length < here.length);
        const comesBack = names.some((name) => !here.includes(name) && after.numberOf(name) !== undefined);
        expect(numbers.cameOrWent({ bits, gone, repeats: [] })).toBe(comesBack || stay.length < here.length);
        const scores = numbers.scores(Int8Array.from(before.names, (name) => Number(name.slice(1)) + 1));
        for (const [number, name] of after.names.entries())
          expect(scores[number]).toBe(before.numberOf(name) === undefined ? 0 : Number(name.slice(1)) + 1);
      }),
    );
  });
});
