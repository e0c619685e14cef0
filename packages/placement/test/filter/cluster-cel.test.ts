import { describe, expect, it } from 'vitest';
import { celProblemText } from '@berth/kube-cel/value/cel-problem';
import { compileClusterCel } from '../../src/filter/cluster-cel.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';

const CLUSTER: ManagedCluster = {
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: { name: 'cluster12', labels: { region: 'eu-1', version: '1.30.2', 'a.b/c': 'd' } },
  spec: { taints: [] },
  status: {
    allocatable: { cpu: '4000m', memory: '16Gi' },
    clusterClaims: [{ name: 'zones', value: '["a","b"]' }],
  },
} as unknown as ManagedCluster;

const SCORES = (name: string) => (name === 'usage' ? [{ name: 'cpu', value: 7 }] : undefined);

function matches(expression: string): boolean | string {
  const compiled = compileClusterCel(expression);
  if (!compiled.ok) return compiled.problem.message;
  const outcome = compiled.program.evaluate(CLUSTER, SCORES);
  return outcome.failure ?? outcome.matched;
}

describe('compileClusterCel', () => {
  it.each([
    ['managedCluster.metadata.labels["region"] == "eu-1"', true],
    ['managedCluster.metadata.labels.region in ["eu-1", "eu-2"]', true],
    ['managedCluster.metadata.labels["a.b/c"] == "d"', true],
    ['has(managedCluster.metadata.labels.tier)', false],
    ['managedCluster.metadata.labels.tier == "x"', 'no such key: tier'],
    ['managedCluster.metadata.labels.?tier.orValue("none") == "none"', true],
    ['managedCluster.metadata.creationTimestamp == null', true],
    ['managedCluster.status.conditions == null && managedCluster.status.version == {}', true],
    ['managedCluster.spec.hubAcceptsClient', false],
    ['has(managedCluster.spec.taints)', false],
    ['managedCluster.status.allocatable.cpu == "4"', true],
    ['quantity(managedCluster.status.allocatable.memory).isGreaterThan(quantity("8Gi"))', true],
    ['semver(managedCluster.metadata.labels.version).isLessThan(semver("1.31.0"))', true],
    ['managedCluster.status.clusterClaims.exists(c, "b" in c.value.parseJSON())', true],
    ['managedCluster.scores("usage").exists(s, s.name == "cpu" && s.value > 6)', true],
    [
      'managedCluster.scores("none").size() == 0',
      'failed to get score: AddOnPlacementScore "none" not found',
    ],
    [
      'managedCluster.metadata.scores("usage").size() == 0',
      'no such overload: scores() is a function of managedCluster',
    ],
    ['managedCluster.metadata.name', 'the result is a string, not a bool'],
    ['"{".parseJSON().a', expect.stringContaining('failed to parse JSON')],
    ['managedCluster.metadata.name in ["cluster12", 12]', true],
    ['{"a": 1, "b": "x"}.b == "x" && [1, "a", 2.5].size() == 3', true],
    ['[?managedCluster.metadata.labels.?region, ?managedCluster.metadata.labels.?tier] == ["eu-1"]', true],
    ['managedCluster.constructor == 1', 'no such key: constructor'],
    ['managedCluster.__proto__ == 1', 'no such key: __proto__'],
  ])('%s', (expression, want) => {
    expect(matches(expression)).toEqual(want);
  });

  it('places a compile error inside the expression', () => {
    const compiled = compileClusterCel('managedCluster.spec.hubAcceptsClient &&\n  managedCluster.nofunc()');
    expect(compiled).toMatchObject({ ok: false, problem: { line: 2, column: 24 } });
    if (!compiled.ok)
      expect(celProblemText(compiled.problem)).toBe(
        "compilation failed: ERROR: <input>:2:24: undeclared reference to 'nofunc' (in container '')\n" +
          ' |   managedCluster.nofunc()\n | .......................^',
      );
  });

  it('gives up on an expression that costs more than a million', () => {
    const list = '[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]';
    const bomb = `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, ${list}.all(e, true)))))`;
    expect(matches(`${bomb} || true`)).toBe('operation cancelled: actual cost limit exceeded');
  });
});
