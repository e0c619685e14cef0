import { describe, expect, it } from 'vitest';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { createScheme } from '../../src/scheme/create-scheme.ts';
import {
  type ResourceDefinition,
  apiVersionOf,
  compareVersionPriority,
} from '../../src/schema/resource-definition.ts';
import { toVersion } from '../../src/scheme/to-version.ts';

describe('scheme', () => {
  const scheme = createScheme(OCM_HUB_KINDS);

  it.each([
    { group: '', plural: 'configmaps', kind: 'ConfigMap', namespaced: true },
    { group: '', plural: 'namespaces', kind: 'Namespace', namespaced: false },
    { group: '', plural: 'endpoints', kind: 'Endpoints', namespaced: true },
    { group: 'apps', plural: 'deployments', kind: 'Deployment', namespaced: true },
    { group: 'networking.k8s.io', plural: 'networkpolicies', kind: 'NetworkPolicy', namespaced: true },
    { group: 'storage.k8s.io', plural: 'storageclasses', kind: 'StorageClass', namespaced: false },
    {
      group: 'certificates.k8s.io',
      plural: 'certificatesigningrequests',
      kind: 'CertificateSigningRequest',
      namespaced: false,
    },
  ])('serves $plural of $group', ({ group, plural, kind, namespaced }) => {
    const version = 'v1';
    const ref = scheme.resource(group, version, plural);
    expect(ref?.definition.kind).toBe(kind);
    expect(ref?.definition.namespaced).toBe(namespaced);
    expect(scheme.kind(group, version, kind)).toBe(ref);
  });

  it.each([
    ['', 'v1', 'constructor'],
    ['', 'v1', '__proto__'],
    ['apps', 'v2', 'deployments'],
  ])('does not serve %s/%s %s', (group, version, plural) => {
    expect(scheme.resource(group, version, plural)).toBeUndefined();
  });

  it('puts the core group first', () => {
    const [first, ...rest] = scheme.groups();
    expect(first?.group).toBe('');
    expect(first?.versions.map((version) => version.version)).toEqual(['v1']);
    expect(rest.map((group) => group.group)).toContain('apps');
  });

  it('grows its revision with every change', () => {
    const own = createScheme(OCM_HUB_KINDS);
    const before = own.revision;
    const pods = own.definition('', 'pods') as ResourceDefinition;
    own.register({ ...pods, group: 'example.com', builtIn: false });
    expect(own.resource('example.com', 'v1', 'pods')).toBeDefined();
    expect(own.revision).toBeGreaterThan(before);
    own.unregister('example.com', 'pods');
    expect(own.resource('example.com', 'v1', 'pods')).toBeUndefined();
  });

  it('brings a built-in resource back when what replaced it goes', () => {
    const own = createScheme(OCM_HUB_KINDS);
    const group = 'work.open-cluster-management.io';
    const works = own.definition(group, 'manifestworks') as ResourceDefinition;
    own.register({ ...works, shortNames: ['mw'] });
    expect(own.definition(group, 'manifestworks')?.shortNames).toEqual(['mw']);
    own.unregister(group, 'manifestworks');
    expect(own.definition(group, 'manifestworks')).toBe(works);
  });

  it('knows the structure of built-in kinds, cycles included', () => {
    const container = scheme
      .resource('apps', 'v1', 'deployments')
      ?.version.schema.properties?.get('spec')
      ?.properties?.get('template')
      ?.properties?.get('spec')
      ?.properties?.get('containers');
    expect(container?.listMapKeys).toEqual(['name']);
    expect(container?.items?.properties?.get('ports')?.items?.properties?.get('protocol')?.default).toBe(
      'TCP',
    );
    const crd = scheme.resource('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')?.version.schema;
    const json = crd?.properties?.get('spec')?.properties?.get('versions')?.items?.properties?.get('schema');
    const props = json?.properties?.get('openAPIV3Schema');
    expect(props?.properties?.get('not')).toBe(props);
  });
});

describe('version priority', () => {
  it('orders GA, beta, alpha, newer first, others last', () => {
    const given = ['v1alpha1', 'foo', 'v2', 'v1beta2', 'v10', 'v1beta10', 'bar', 'v1'];
    expect([...given].sort(compareVersionPriority)).toEqual([
      'v10',
      'v2',
      'v1',
      'v1beta10',
      'v1beta2',
      'v1alpha1',
      'bar',
      'foo',
    ]);
  });
});

describe('toVersion', () => {
  const scheme = createScheme(OCM_HUB_KINDS);
  const core = scheme.resource('', 'v1', 'events');
  const events = scheme.resource('events.k8s.io', 'v1', 'events');

  it('shows both Event kinds the same objects', () => {
    const written = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e' },
      note: 'n',
      regarding: { kind: 'Pod' },
    };
    const asCore = toVersion(written, core as NonNullable<typeof core>);
    expect(asCore).toMatchObject({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      message: 'n',
      involvedObject: { kind: 'Pod' },
      firstTimestamp: null,
    });
    const back = toVersion(asCore, events as NonNullable<typeof events>);
    expect(back).toMatchObject({ ...written, deprecatedFirstTimestamp: null });
    expect(back).not.toHaveProperty('reportingController');
    expect(apiVersionOf(events as NonNullable<typeof events>)).toBe('events.k8s.io/v1');
  });

  it('returns the same object when nothing changes', () => {
    const object = { apiVersion: 'v1', kind: 'Event' };
    expect(toVersion(object, core as NonNullable<typeof core>)).toBe(object);
  });

  it('shows autoscalers in both versions without losing metrics', () => {
    const [v1, v2] = ['v1', 'v2'].map(
      (version) =>
        scheme.resource('autoscaling', version, 'horizontalpodautoscalers') as NonNullable<typeof core>,
    );
    const old = {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
    };
    const shown = toVersion(old, v2 as NonNullable<typeof core>);
    const cpu = {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
    };
    expect(shown).toMatchObject({
      ...old,
      apiVersion: 'autoscaling/v2',
      spec: { maxReplicas: 3, metrics: [cpu] },
    });
    const memory = {
      type: 'Resource',
      resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 9 } },
    };
    const written = {
      ...shown,
      metadata: { name: 'h', annotations: { q: '1' } },
      spec: { maxReplicas: 3, metrics: [cpu, memory] },
    };
    const back = toVersion(written, v1 as NonNullable<typeof core>);
    expect(back['spec']).toMatchObject({ maxReplicas: 3, targetCPUUtilizationPercentage: 50 });
    expect(toVersion(back, v2 as NonNullable<typeof core>)).toMatchObject(written);
  });
});
