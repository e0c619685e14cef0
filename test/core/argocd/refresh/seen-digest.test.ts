import { describe, expect, it } from 'vitest';
import { decisionUses, generatorConfigs } from '../../../../src/core/argocd/refresh/decision-use.ts';
import { seenDecisions } from '../../../../src/core/argocd/refresh/seen-digest.ts';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import { pageLabels } from '../../../../src/core/publish/pages/decision-page.ts';
import { PublishedPlacements } from '../../../../src/core/publish/pages/published-placements.ts';
import { sha256 } from '@berth/runtime/sha256';

const PLACEMENT = 'cluster.open-cluster-management.io/placement';
const GROUP = 'cluster.open-cluster-management.io/decision-group-name';
const configMap = (name: string, data: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'argocd' },
  data,
});
const lists = {
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'placementdecisions',
  statusListKey: 'decisions',
  matchKey: 'clusterName',
};
const CONFIGS = generatorConfigs(
  [
    configMap('berth', { baseUrl: 'https://berth.berth-system.svc:8443', token: '$berth-plugin:token' }),
    configMap('berth-team-b', { baseUrl: 'https://berth.berth-system.svc:8443/team-b' }),
    configMap('other', { baseUrl: 'https://berth.berth-system.svc.example.org' }),
    configMap('pages', lists),
    configMap('rules', { ...lists, kind: 'placementrules' }),
    configMap('no-list', { ...lists, statusListKey: 'clusters' }),
  ],
  ['berth'],
);

function published(clusters: Record<string, readonly string[]>): PublishedPlacements {
  const placements = new PublishedPlacements();
  for (const [key, names] of Object.entries(clusters)) {
    const [placement = '', group = ''] = key.split(' ');
    const before = placements.get(placement)?.groups ?? [];
    const index = before.length;
    const groups = [...before, { name: group, index, decisions: decisions(names) }];
    placements.set(
      placement,
      groups.map((one) => ({ name: 'page', group: one, decisions: one.decisions })),
    );
  }
  return placements;
}

const decisions = (names: readonly string[]) => names.map((clusterName) => ({ clusterName, reason: '' }));

function seen(generator: object, clusters: Record<string, readonly string[]>, pages: ObjectMeta[] = []) {
  return seenDecisions(decisionUses({ generators: [generator] }), published(clusters).list(), {
    configs: CONFIGS,
    argocdNamespace: 'argocd',
    pagesOf: () => pages,
    digest: sha256,
  });
}

const plugin = (placement: string, name = 'berth') => ({
  plugin: { configMapRef: { name }, input: { parameters: { placement } } },
});
const resource = (more: object, configMapRef = 'pages') => ({
  clusterDecisionResource: { configMapRef, ...more },
});
const labelled = (matchLabels: Record<string, string>) => resource({ labelSelector: { matchLabels } });
const FLEET = { 'argocd/web': ['c1'], 'argocd/db': ['c2'], 'team-a/web': ['c3'], 'team-b/east-web': ['c4'] };

describe('the placements that an ApplicationSet uses', () => {
  it.each([
    { about: 'plugin', generator: plugin('team-a/web'), want: ['team-a/web'] },
    { about: 'plugin of a tenant', generator: plugin('team-a/web', 'berth-team-b'), want: ['team-a/web'] },
    { about: 'plugin of others', generator: plugin('team-a/web', 'other'), want: [] },
    { about: 'a placement that is not published', generator: plugin('team-a/none'), want: [] },
    { about: 'a placeholder', generator: plugin('team-b/{{ .region }}-web'), want: ['team-b/east-web'] },
    { about: 'only placeholders', generator: plugin('{{ns}}/{{name}}'), want: Object.keys(FLEET).sort() },
    { about: 'dots and brackets are text', generator: plugin('team.a/we(b)'), want: [] },
    { about: 'a label', generator: labelled({ [PLACEMENT]: 'web' }), want: ['argocd/web'] },
    { about: 'any page', generator: labelled({}), want: ['argocd/db', 'argocd/web'] },
    { about: 'an unknown label', generator: labelled({ team: 'a' }), want: [] },
    {
      about: 'an expression',
      generator: resource({
        labelSelector: { matchExpressions: [{ key: PLACEMENT, operator: 'NotIn', values: ['web'] }] },
      }),
      want: ['argocd/db'],
    },
    {
      about: 'a selector that is wrong',
      generator: resource({ labelSelector: { matchExpressions: [{ key: PLACEMENT, operator: 'Is' }] } }),
      want: [],
    },
    {
      about: 'a ConfigMap that lists something else',
      generator: resource({ labelSelector: {} }, 'rules'),
      want: [],
    },
    {
      about: 'a ConfigMap with another key',
      generator: resource({ labelSelector: {} }, 'no-list'),
      want: [],
    },
    { about: 'a page that is not there', generator: resource({ name: 'web-decision-1' }), want: [] },
  ])('$about', ({ generator, want }) => {
    const { placements, digest } = seen(generator, FLEET);
    expect(placements).toEqual(want);
    expect(digest === undefined).toBe(want.length === 0);
  });

  it('are found by the name of a page, and by labels that others added', () => {
    const group = { name: '', index: 0 };
    const page = {
      name: 'web-decision-1',
      namespace: 'argocd',
      labels: { ...pageLabels('web', group), team: 'a' },
    };
    const only = { 'argocd/web': ['c1'] };
    expect(seen(resource({ name: 'web-decision-1' }), only, [page]).placements).toEqual(['argocd/web']);
    expect(seen(labelled({ team: 'a' }), only, [page]).placements).toEqual(['argocd/web']);
  });
});

describe('the digest of what an ApplicationSet uses', () => {
  const digest = (generator: object, clusters: Record<string, readonly string[]>) =>
    seen(generator, clusters).digest;

  it('changes with the decision, and with no other one', () => {
    const before = digest(plugin('team-a/web'), FLEET);
    expect(digest(plugin('team-a/web'), { ...FLEET, 'team-a/web': ['c5'] })).not.toBe(before);
    expect(digest(plugin('team-a/web'), { ...FLEET, 'argocd/web': ['c5'] })).toBe(before);
  });

  it('does not depend on the order of publication, or on how often a placement is read', () => {
    const twice = { matrix: { generators: [plugin('team-a/web'), plugin('argocd/db')] } };
    const reversed = Object.fromEntries(Object.entries(FLEET).reverse());
    expect(digest(twice, reversed)).toBe(digest(twice, FLEET));
    const same = { matrix: { generators: [plugin('team-a/web'), plugin('team-a/web')] } };
    expect(digest(same, FLEET)).toBe(digest(plugin('team-a/web'), FLEET));
  });

  it('of a group that a selector asks for changes with that group only', () => {
    const groups = { 'argocd/web canary': ['c1'], 'argocd/web rest': ['c2'] };
    const canary = labelled({ [PLACEMENT]: 'web', [GROUP]: 'canary' });
    const before = digest(canary, groups);
    expect(before).toBeDefined();
    expect(digest(canary, { ...groups, 'argocd/web rest': ['c3'] })).toBe(before);
    expect(digest(canary, { ...groups, 'argocd/web canary': ['c3'] })).not.toBe(before);
  });
});
