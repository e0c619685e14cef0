import { describe, expect, it } from 'vitest';
import { decisionUses } from '../../../../src/core/argocd/refresh/decision-use.ts';

const plugin = (parameters: object, name = 'berth') => ({
  plugin: { configMapRef: { name }, input: { parameters } },
});
const resource = (more: object) => ({
  clusterDecisionResource: { configMapRef: 'berth-placement-decisions', ...more },
});
const web = { kind: 'plugin', configMap: 'berth', placement: 'team-a/web' };
const byLabel = { matchLabels: { 'cluster.open-cluster-management.io/placement': 'web' } };
const selected = {
  kind: 'decision-resource',
  configMap: 'berth-placement-decisions',
  name: undefined,
  selector: byLabel,
};
const list = { list: { elements: [{ cluster: 'c1' }] } };

describe('the generators of an ApplicationSet that read decisions', () => {
  it.each([
    { about: 'a plugin', generators: [plugin({ placement: 'team-a/web' })], want: [web] },
    {
      about: 'a plugin with a namespace beside the name',
      generators: [plugin({ placement: ' web ', namespace: 'team-a' })],
      want: [web],
    },
    { about: 'a plugin of others', generators: [plugin({ something: 'else' })], want: [] },
    { about: 'a selector', generators: [resource({ labelSelector: byLabel })], want: [selected] },
    {
      about: 'a name',
      generators: [resource({ name: 'web-decision-1' })],
      want: [{ ...selected, selector: undefined, name: 'web-decision-1' }],
    },
    {
      about: 'a name and a selector, which Argo CD refuses',
      generators: [resource({ name: 'web-decision-1', labelSelector: byLabel })],
      want: [],
    },
    { about: 'neither of them', generators: [resource({})], want: [] },
    { about: 'no generator for decisions', generators: [list, { clusters: {} }], want: [] },
    {
      about: 'a matrix',
      generators: [{ matrix: { generators: [list, plugin({ placement: 'team-a/web' })] } }],
      want: [web],
    },
    {
      about: 'a merge in a matrix, beside another generator',
      generators: [
        {
          matrix: {
            generators: [
              { merge: { mergeKeys: ['name'], generators: [resource({ labelSelector: byLabel }), list] } },
              plugin({ placement: 'team-a/web' }),
            ],
          },
        },
        resource({ name: 'db-decision-1' }),
      ],
      want: [selected, web, { ...selected, selector: undefined, name: 'db-decision-1' }],
    },
    {
      about: 'shapes that nobody expects',
      generators: [null, 1, [], { plugin: [] }, { matrix: 'x' }, { plugin: { configMapRef: 'berth' } }],
      want: [],
    },
  ])('$about', ({ generators, want }) => {
    expect(decisionUses({ generators })).toMatchObject(want);
  });

  it('are none where the spec is no object, and end where nesting has no end', () => {
    expect([undefined, null, 'x', {}].map(decisionUses)).toEqual([[], [], [], []]);
    const endless: { matrix: { generators: unknown[] } } = { matrix: { generators: [] } };
    endless.matrix.generators.push(endless, plugin({ placement: 'team-a/web' }));
    expect(decisionUses({ generators: [endless] }).length).toBeLessThan(10);
  });
});
