import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { applyOrder } from '../../../packages/agent/src/rules/manifests/kind-order.ts';
import {
  excessiveSizeBytes,
  manifestSizeBytes,
  matchesWildcard,
  resolveManifestConfig,
} from '@berth/ocm/kind/manifest-config';
import { isOwned, withOwner } from '../../../packages/agent/src/rules/applied/ownership.ts';
import { sameWorkSpec } from '@berth/ocm/kind/same-work-spec';
import { substituteCluster } from '../../../src/core/work/replica-set/substitute-cluster.ts';
import { checkWorks } from '../../../src/core/sources/check-sources.ts';
import { ObjectsByKind, SourceReferences } from '../../../src/core/sources/source-references.ts';
import { splitManifests } from '../../../src/core/work/manifests/inline-manifests.ts';
import { validateWorkSpec } from '../../../packages/agent/src/rules/manifests/validate-work.ts';

const configMap = (name: string, text = ''): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { text },
});

describe('validateWorkSpec', () => {
  it.each([
    { name: 'no manifests', manifests: [], want: ['work.empty'] },
    { name: 'a good one', manifests: [configMap('a')], want: [] },
    { name: 'no name', manifests: [{ ...configMap('a'), metadata: {} }], want: ['work.manifest-name'] },
    {
      name: 'no metadata',
      manifests: [{ apiVersion: 'v1', kind: 'ConfigMap' }],
      want: ['work.manifest-name'],
    },
    {
      name: 'generateName',
      manifests: [{ ...configMap('a'), metadata: { name: 'a', generateName: 'a-' } }],
      want: ['work.manifest-generate-name'],
    },
    {
      name: 'the same twice',
      manifests: [configMap('a'), configMap('a')],
      want: ['work.duplicate-manifest'],
    },
    {
      name: 'the same in two versions',
      manifests: [
        { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'a' } },
        { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'a' } },
      ],
      want: [],
    },
    { name: 'more than 500 KiB', manifests: [configMap('a', 'x'.repeat(512_000))], want: ['work.too-large'] },
  ])('$name', ({ manifests, want }) => {
    const problems = validateWorkSpec({ workload: { manifests: manifests as KubeObject[] } });
    expect(problems.map(({ code }) => code)).toEqual(want);
  });

  it('counts bytes as protobuf does: the limit itself still passes', () => {
    const frame = manifestSizeBytes(configMap('a', ''));
    // Two more bytes of varint once the JSON is longer than 16383 bytes.
    const exact = configMap('a', 'x'.repeat(512_000 - frame - 2));
    expect(manifestSizeBytes(exact)).toBe(512_000);
    expect(validateWorkSpec({ workload: { manifests: [exact] } })).toEqual([]);
    const over = configMap('a', 'x'.repeat(512_001 - frame - 2));
    expect(validateWorkSpec({ workload: { manifests: [over] } })).toHaveLength(1);
  });
});

describe('splitManifests', () => {
  it('loses nothing, keeps the order, stays below the limit', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(900), { maxLength: 40 }), (sizes) => {
        const manifests = sizes.map((size, index) => configMap(`m${index}`, 'x'.repeat(size)));
        const split = splitManifests(manifests, 2_000);
        if (!split.ok) throw new Error('split failed');
        expect(split.parts.flat()).toEqual(manifests);
        for (const part of split.parts) expect(excessiveSizeBytes(part, 2_000)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });

  it('names the manifest that is too large on its own', () => {
    expect(splitManifests([configMap('a'), configMap('b', 'x'.repeat(3_000))], 2_000)).toMatchObject({
      ok: false,
      index: 1,
    });
  });
});

describe('matchesWildcard', () => {
  it.each([
    ['*', '', true],
    ['*', 'anything', true],
    ['my*', 'my-test', true],
    ['*my', 'my-test', false],
    ['*m*', 'my-test', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*a', 'a', false],
    ['', '', true],
    ['', 'x', false],
    [`${'*a'.repeat(50)}*b`, 'a'.repeat(5000), false],
  ])('%s %s', (pattern, text, want) => {
    expect(matchesWildcard(pattern, text)).toBe(want);
  });
});

describe('resolveManifestConfig', () => {
  const resource = { group: 'apps', resource: 'deployments', namespace: 'web', name: 'shop' };
  const id = (name: string, namespace: string): typeof resource => ({ ...resource, name, namespace });

  it('takes each field from the first entry that has it; one Watch is enough', () => {
    const config = resolveManifestConfig(
      [
        { resourceIdentifier: id('other', 'web'), updateStrategy: { type: 'ReadOnly' } },
        {
          resourceIdentifier: id('shop', 'web'),
          feedbackRules: [{ type: 'WellKnownStatus' }],
          feedbackScrapeType: 'Watch',
        },
        {
          resourceIdentifier: id('*', '*'),
          updateStrategy: { type: 'CreateOnly' },
          feedbackScrapeType: 'Poll',
        },
        { resourceIdentifier: id('sh*', '*'), feedbackRules: [], updateStrategy: { type: 'Update' } },
      ],
      resource,
    );
    expect(config).toEqual({
      feedbackRules: [{ type: 'WellKnownStatus' }],
      conditionRules: [],
      updateStrategy: { type: 'CreateOnly' },
      watchFeedback: true,
    });
  });
});

describe('applyOrder', () => {
  it('orders by kind and is stable', () => {
    const kinds = [
      'Widget',
      'Deployment',
      'Namespace',
      undefined,
      'ConfigMap',
      'CustomResourceDefinition',
      'Widget',
    ];
    expect(applyOrder(kinds)).toEqual([2, 5, 4, 1, 0, 6, 3]);
  });
});

describe('ownership', () => {
  const rule = { group: 'apps', resource: 'deployments', namespace: 'web', name: 'shop' };
  it.each([
    [undefined, true],
    [{ propagationPolicy: 'Foreground' }, true],
    [{ propagationPolicy: 'Orphan' }, false],
    [{ propagationPolicy: 'SelectivelyOrphan' }, true],
    [{ propagationPolicy: 'SelectivelyOrphan', selectivelyOrphans: { orphaningRules: [rule] } }, false],
  ] as const)('%j', (deleteOption, want) => {
    expect(isOwned(deleteOption, rule)).toBe(want);
  });

  it.each([
    { ...rule, group: 'x' },
    { ...rule, resource: 'x' },
    { ...rule, name: 'x' },
    { ...rule, namespace: 'x' },
    // No wildcards: a rule without a namespace is about what has none.
    { ...rule, namespace: '' },
    { ...rule, namespace: undefined },
  ])('an object that an orphaning rule does not name exactly is owned: %j', (other) => {
    const selectivelyOrphans = { orphaningRules: [other] };
    expect(isOwned({ propagationPolicy: 'SelectivelyOrphan', selectivelyOrphans }, rule)).toBe(true);
  });

  it('an orphaning rule without group and namespace names an object that has none', () => {
    const selectivelyOrphans = { orphaningRules: [{ resource: 'nodes', name: 'a' }] };
    const node = { group: '', resource: 'nodes', namespace: '', name: 'a' };
    expect(isOwned({ propagationPolicy: 'SelectivelyOrphan', selectivelyOrphans }, node)).toBe(false);
  });

  it('replaces the reference of a re-created AppliedManifestWork and keeps the others', () => {
    const owner = (name: string, uid: string) =>
      ({ apiVersion: 'work.open-cluster-management.io/v1', kind: 'AppliedManifestWork', name, uid }) as const;
    const foreign = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'f' };
    const owners = [owner('a', '1'), foreign, owner('b', '2')];
    expect(withOwner(owners, owner('a', '9'), true)).toEqual([owner('a', '9'), foreign, owner('b', '2')]);
    expect(withOwner(owners, owner('a', '9'), false)).toEqual([foreign, owner('b', '2')]);
    expect(withOwner([], owner('a', '9'), true)).toEqual([owner('a', '9')]);
  });
});

describe('sameWorkSpec', () => {
  const spec = { workload: { manifests: [configMap('a')] } };
  it.each([
    {
      name: 'defaults',
      other: { ...spec, deleteOption: { propagationPolicy: 'Foreground' as const }, manifestConfigs: [] },
      want: true,
    },
    {
      name: 'null creation time',
      other: {
        workload: {
          manifests: [
            { ...configMap('a'), metadata: { name: 'a', namespace: 'default', creationTimestamp: null } },
          ],
        },
      },
      want: true,
    },
    {
      name: 'key order',
      other: {
        workload: {
          manifests: [
            JSON.parse(
              '{"data":{"text":""},"metadata":{"namespace":"default","name":"a"},"kind":"ConfigMap","apiVersion":"v1"}',
            ) as KubeObject,
          ],
        },
      },
      want: true,
    },
    { name: 'another text', other: { workload: { manifests: [configMap('a', 'x')] } }, want: false },
    {
      name: 'another policy',
      other: { ...spec, deleteOption: { propagationPolicy: 'Orphan' as const } },
      want: false,
    },
  ])('$name', ({ other, want }) => {
    expect(sameWorkSpec(spec, other)).toBe(want);
  });
});

describe('substituteCluster', () => {
  const cluster = {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name: 'edge-1', labels: { region: 'eu' } },
    status: { clusterClaims: [{ name: 'version', value: '1.30' }] },
  } as const;

  it.each([
    ['${cluster.name}-x', 'edge-1-x'],
    ["${cluster.labels['region']}/${cluster.claims['version']}", 'eu/1.30'],
    ["${cluster.labels['zone']:-none}", 'none'],
    ['$${cluster.name}', '${cluster.name}'],
    ['$HOME costs $5', '$HOME costs $5'],
  ])('%s', (text, want) => {
    const result = substituteCluster({ workload: { manifests: [configMap('a', text)] } }, cluster);
    expect(result.ok && result.spec.workload?.manifests?.[0]?.['data']).toEqual({ text: want });
  });

  it.each([
    ["${cluster.labels['zone']}", 'has no label "zone"'],
    ["${cluster.labels['constructor']}", 'has no label "constructor"'],
    ['${env.HOME}', 'cannot read ${env.HOME}'],
  ])('%s is an error', (text, want) => {
    const result = substituteCluster({ workload: { manifests: [configMap('a', text)] } }, cluster);
    expect(result.ok ? [] : result.errors).toEqual([expect.stringContaining(want)]);
  });
});

describe('checkWorks on replica sets', () => {
  it.each([
    {
      name: 'in order',
      annotations: {},
      strategy: { type: 'Progressive', progressive: { maxConcurrency: '50%' } },
      want: [],
    },
    {
      name: 'a pause that is none',
      annotations: { 'berth.dev/rollout': 'paused' },
      strategy: {},
      want: ['replica-set.annotation'],
    },
    {
      name: 'an unreadable expression',
      annotations: { 'berth.dev/substitute': 'true' },
      strategy: {},
      want: ['replica-set.substitution'],
    },
    {
      name: 'a deadline without unit',
      annotations: {},
      strategy: { type: 'All', all: { progressDeadline: '5' } },
      want: ['replica-set.rollout'],
    },
    {
      name: 'a size without %',
      annotations: {},
      strategy: { type: 'Progressive', progressive: { maxConcurrency: '5' } },
      want: ['replica-set.rollout'],
    },
    {
      name: 'a strategy that does not exist',
      annotations: {},
      strategy: { type: 'Sometimes' },
      want: ['replica-set.rollout'],
    },
  ])('$name', ({ annotations, strategy, want }) => {
    const object = {
      apiVersion: 'work.open-cluster-management.io/v1alpha1',
      kind: 'ManifestWorkReplicaSet',
      metadata: { name: 'web', namespace: 'team', annotations },
      spec: {
        manifestWorkTemplate: { workload: { manifests: [configMap('a', '${env.HOME}')] } },
        placementRefs: [{ name: 'all', rolloutStrategy: strategy }],
      },
    };
    const sources = [{ object, location: { file: 'a.yaml', line: 1, column: 1 } }];
    const findings = checkWorks(new ObjectsByKind(sources), new SourceReferences(sources));
    expect(findings.map(({ code }) => code)).toEqual(want);
  });
});
