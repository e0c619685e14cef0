import { expect, it } from 'vitest';
import type { CompileCel } from '../../src/filter/cel-hook.ts';
import { PredicateClass } from '../../src/filter/predicate-class.ts';
import { predicateFailures } from '../../src/trace/trace-predicates.ts';
import { hasBit } from '../../src/snapshot/bitset.ts';
import { ClusterIndex } from '../../src/snapshot/cluster-index.ts';
import { cluster } from '../explain/snapshots.ts';

/** An expression `true COST` or `false COST`. */
const compileCel: CompileCel = (text) => {
  const [answer, cost] = text.split(' ');
  return { ok: true, evaluate: () => ({ matched: answer === 'true', cost: Number(cost) }) };
};

it.each([
  { name: 'cheap expressions', cel: ['true 1', 'true 2'], want: [] },
  { name: 'an expression that is false', cel: ['false 1'], want: [{ expression: 'false 1' }] },
  {
    name: 'expressions that together exceed the budget',
    cel: ['true 6000000', 'true 6000000'],
    want: [{ expression: 'true 6000000', failure: 'CEL evaluation budget exceeded' }],
  },
])('names what refuses a cluster: $name', ({ cel, want }) => {
  const clusterIndex = new ClusterIndex([cluster('c')], []);
  const predicates = [{ requiredClusterSelector: { celSelector: { celExpressions: cel } } }];
  const predicate = new PredicateClass(predicates, clusterIndex, compileCel);
  const [failures = []] = predicateFailures(predicate, clusterIndex, 0);
  expect(failures).toMatchObject(want);
  expect(failures).toHaveLength(want.length);
  expect(hasBit(predicate.passNew, 0)).toBe(want.length === 0);
});
