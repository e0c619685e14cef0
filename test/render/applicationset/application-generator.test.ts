import { describe, expect, it } from 'vitest';
import { planInputs } from '../../../src/app/generator-inputs/plan-inputs.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { ApplicationGenerator, generateApplications } from '@berth/applicationset/generate-applications';
import type { JsonValue } from '@berth/applicationset/json/json-value';
import type { GeneratorInputs } from '@berth/applicationset/inputs/generator-inputs';
import { pageOfClusters } from '@berth/placement/prior/published-clusters';

const PLACEMENT = 'cluster.open-cluster-management.io/placement';

/** The clusters of a fleet, of which a placement selects some. */
function inputsOf(selected: readonly string[], addresses = 'a'): GeneratorInputs {
  const snapshot: Snapshot = {
    now: '2026-01-01T00:00:00Z',
    placements: [],
    clusters: ['c1', 'c2', 'c3'].map((name) => ({
      apiVersion: 'cluster.open-cluster-management.io/v1',
      kind: 'ManagedCluster',
      metadata: { name },
      spec: {
        hubAcceptsClient: true,
        managedClusterClientConfigs: [{ url: `https://${name}.${addresses}`, caBundle: '' }],
      },
    })),
    clusterSets: [],
    bindings: [],
    scores: [],
    decisions: [
      pageOfClusters(
        {
          apiVersion: 'cluster.open-cluster-management.io/v1beta1',
          kind: 'PlacementDecision',
          metadata: { name: 'web-decision-1', namespace: 'argocd', labels: { [PLACEMENT]: 'web' } },
        },
        selected,
      ),
    ],
  };
  return planInputs('argocd', snapshot, []);
}

const byDecision = {
  clusterDecisionResource: {
    configMapRef: 'berth',
    labelSelector: { matchLabels: { [PLACEMENT]: 'web' } },
  },
};
const nested = { list: { elements: [{ parts: { tier: 'gold' } }] } };

function setOf(generators: JsonValue, name: string, path = '.'): JsonValue {
  const template = {
    metadata: { name },
    spec: {
      project: 'default',
      source: { repoURL: 'https://git.example.com/web.git', path, targetRevision: 'main' },
      destination: { server: '{{ .server }}', namespace: 'web' },
    },
  };
  return { metadata: { name: 'set', namespace: 'argocd' }, spec: { goTemplate: true, generators, template } };
}

describe('a generator of Applications', () => {
  const worlds = [
    inputsOf(['c1', 'c2']),
    inputsOf(['c2', 'c3']),
    inputsOf(['c2', 'c3'], 'b'),
    inputsOf([]),
    inputsOf(['c1', 'c2']),
  ];

  it.each([
    { name: 'a decision', set: setOf([byDecision], 'web-{{ .name }}') },
    {
      name: 'a template that changes its parameters',
      set: setOf([byDecision], '{{ $_ := set . "server" "https://other" }}web-{{ .name }}', '{{ .server }}'),
    },
    {
      name: 'generators with templates of their own',
      set: setOf(
        [
          byDecision,
          {
            clusterDecisionResource: {
              ...byDecision.clusterDecisionResource,
              template: { metadata: { labels: { own: '{{ .name }}' } }, spec: {} },
            },
          },
        ],
        'web-{{ .name }}',
      ),
    },
    {
      name: 'parameters that share a map',
      set: setOf(
        [{ matrix: { generators: [nested, byDecision] } }],
        'web-{{ .name }}-{{ .parts.tier }}{{ $_ := set .parts "tier" "silver" }}',
      ),
    },
    { name: 'a template that fails', set: setOf([byDecision], '{{ .name | nothing }}') },
  ])('makes of $name in each world what a new one makes there', ({ set }) => {
    const generator = new ApplicationGenerator(set);
    for (const inputs of worlds)
      expect(generator.generate(inputs)).toEqual(generateApplications(set, inputs));
  });

  it('renders equal parameters once', () => {
    const generator = new ApplicationGenerator(setOf([byDecision], 'web-{{ .name }}'));
    const [before, after] = worlds.slice(0, 2).map((inputs) => generator.generate(inputs));
    if (before === undefined || !('applications' in before)) throw new Error('nothing is generated');
    if (after === undefined || !('applications' in after)) throw new Error('nothing is generated');
    expect(after.applications[0]).toBe(before.applications[1]);
  });
});
