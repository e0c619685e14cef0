import { describe, expect, it } from 'vitest';
import { apiVersionOf, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import {
  condition,
  configMap,
  DeploymentHarness,
  deployment,
  TEMPLATE_REFERENCE,
} from './deployment-harness.ts';

const WORK = 'c1/addon-web-deploy-0';

describe('when an add-on is deployed', () => {
  it('waits until the registration has been set up, whatever its result', () => {
    const harness = new DeploymentHarness().without('RegistrationApplied');
    expect(harness.step()).toEqual([]);
    expect(harness.plan().installNamespace).toBeUndefined();
    expect(harness.set(condition('RegistrationApplied', 'False')).step()).toEqual([`create ${WORK}`]);
  });

  it.each([
    { name: 'before it is configured', given: (one: DeploymentHarness) => one.without('Configured') },
    {
      name: 'while its rollout has not come to this cluster',
      given: (one: DeploymentHarness) => one.set(condition('Configured', 'False')),
    },
    {
      name: 'while its template is not the one that was rolled out',
      given: (one: DeploymentHarness) => Object.assign(one, { isRolledOut: false }),
    },
    {
      name: 'on a cluster that is being deleted',
      given: (one: DeploymentHarness) => one.cluster('c1', { isGoing: true }),
    },
    { name: 'while it is being deleted', given: (one: DeploymentHarness) => one.delete() },
  ])('nothing is written $name, neither for a new one nor for one that runs', ({ given }) => {
    expect(given(new DeploymentHarness()).step()).toEqual([]);
    const running = new DeploymentHarness();
    running.settle();
    running.manifests = [configMap('other')];
    expect(given(running).step()).toEqual([]);
    expect(running.contents()).toEqual({ [WORK]: ['a'] });
  });

  it('gives the work the labels, the owner and the hashes of the configurations', () => {
    const harness = new DeploymentHarness();
    const defaults = { group: '', resource: 'configmaps', lastObservedGeneration: 1 };
    harness.addon = {
      ...harness.addon,
      status: {
        ...harness.addon.status,
        configReferences: [
          TEMPLATE_REFERENCE,
          { ...defaults, desiredConfig: { namespace: 'ns', name: 'values', specHash: '<b>' } },
          { group: 'g.io', resource: 'others', lastObservedGeneration: 1 },
        ],
      },
    };
    harness.settle();
    expect(harness.works[0]?.metadata).toEqual({
      name: 'addon-web-deploy-0',
      namespace: 'c1',
      labels: { 'open-cluster-management.io/addon-name': 'web' },
      annotations: {
        'open-cluster-management.io/config-spec-hash':
          '{"addontemplates.addon.open-cluster-management.io//web-1":"aaa","configmaps/ns/values":"\\u003cb\\u003e"}',
      },
      ownerReferences: [
        {
          apiVersion: apiVersionOf(MANAGED_CLUSTER_ADDON),
          ...{ kind: 'ManagedClusterAddOn', name: 'web', uid: 'u-web' },
          ...{ controller: true, blockOwnerDeletion: true },
        },
      ],
    });
  });
});

describe('a pass over a deployed add-on', () => {
  it('writes nothing without a difference, and updates the same work with one', () => {
    const harness = new DeploymentHarness(configMap('a'), deployment('agent'));
    expect(harness.step()).toEqual([`create ${WORK}`]);
    expect(harness.step()).toEqual([]);
    harness.manifests = [configMap('a', {}, '2'), deployment('agent')];
    expect(harness.step()).toEqual([`update ${WORK}`]);
    expect(harness.step()).toEqual([]);
  });

  it('writes when only the hash of a configuration changed', () => {
    const harness = new DeploymentHarness();
    harness.settle();
    const desiredConfig = { name: 'web-1', specHash: 'bbb' };
    const configReferences = [{ ...TEMPLATE_REFERENCE, desiredConfig }];
    harness.addon = { ...harness.addon, status: { ...harness.addon.status, configReferences } };
    expect(harness.step()).toEqual([`update ${WORK}`]);
    expect(harness.step()).toEqual([]);
  });

  it('leaves labels, annotations and owners of others, and an owner that was written in another version', () => {
    const harness = new DeploymentHarness();
    harness.settle();
    harness.works = harness.works.map((work) => ({
      ...work,
      metadata: {
        ...work.metadata,
        labels: { ...work.metadata.labels, mine: '1' },
        annotations: { ...work.metadata.annotations, mine: '2' },
        ownerReferences: work.metadata.ownerReferences?.map((owner) => ({
          ...owner,
          apiVersion: 'g/v1beta1',
        })),
      },
    }));
    expect(harness.step()).toEqual([]);
    harness.manifests = [configMap('b')];
    expect(harness.step()).toEqual([`update ${WORK}`]);
    const { labels, annotations, ownerReferences } = harness.works[0]?.metadata ?? {};
    expect([labels?.['mine'], annotations?.['mine'], ownerReferences?.length]).toEqual(['1', '2', 1]);
  });

  it('takes over the works of an add-on that was deleted and made again', () => {
    const harness = new DeploymentHarness();
    harness.settle();
    harness.addon = { ...harness.addon, metadata: { ...harness.addon.metadata, uid: 'u-new' } };
    expect(harness.step()).toEqual([`update ${WORK}`]);
    expect(harness.works[0]?.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual(['u-new']);
  });

  it('leaves a work alone that is being deleted, and makes it again afterwards', () => {
    const harness = new DeploymentHarness();
    harness.settle();
    const [work] = harness.works;
    harness.works = harness.works.map((one) => ({
      ...one,
      metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    }));
    harness.manifests = [configMap('a', {}, '2')];
    expect(harness.step()).toEqual([]);
    harness.works = [];
    expect(harness.step()).toEqual([`create ${WORK}`]);
    expect(harness.works[0]?.metadata.name).toBe(work?.metadata.name);
  });

  it('keeps what runs when the template cannot be rendered or has no manifests', () => {
    const harness = new DeploymentHarness();
    harness.settle();
    harness.renderError = 'addontemplates.addon.open-cluster-management.io "web-1" not found';
    expect(harness.step()).toEqual([]);
    expect(harness.state('ManifestApplied')).toBe('False ManifestWorkApplyFailed');
    expect(harness.message('ManifestApplied')).toBe(
      'failed to get manifest from agent interface: addontemplates.addon.open-cluster-management.io "web-1" not found',
    );
    harness.renderError = undefined;
    harness.manifests = [];
    expect(harness.step()).toEqual([]);
    expect(harness.message('ManifestApplied')).toBe('no manifest need to apply');
    expect(harness.contents()).toEqual({ [WORK]: ['a'] });
  });
});

describe('ManifestApplied', () => {
  it('follows what the agent reports of the work', () => {
    const harness = new DeploymentHarness();
    harness.settle();
    expect(harness.state('ManifestApplied')).toBeUndefined();
    harness.report('deploy', [condition('Applied', 'False')]).step();
    expect(harness.state('ManifestApplied')).toBe('False AddonManifestAppliedFailed');
    expect(harness.message('ManifestApplied')).toBe('failed to apply the manifests of addon');
    harness.report('deploy', [condition('Applied', 'True')]).step();
    expect(harness.state('ManifestApplied')).toBe('True AddonManifestApplied');
    expect(harness.message('ManifestApplied')).toBe('manifests of addon are applied successfully');
  });

  it('follows it also while the rollout has not come to this cluster', () => {
    const harness = new DeploymentHarness();
    harness.settle();
    harness
      .set(condition('Configured', 'False'))
      .report('deploy', [condition('Applied', 'True')])
      .step();
    expect(harness.state('ManifestApplied')).toBe('True AddonManifestApplied');
  });

  it.each([
    { before: 'False', after: undefined },
    { before: 'True', after: 'True Test' },
  ] as const)('$before is $after while the agent has not reported', ({ before, after }) => {
    const harness = new DeploymentHarness();
    harness.set(condition('ManifestApplied', before)).settle();
    expect(harness.state('ManifestApplied')).toBe(after);
  });
});

describe('what the work tells the agent', () => {
  const identity = { group: 'apps', resource: 'deployments', name: 'agent', namespace: 'agent' };
  const path = (name: string, at: string): { readonly name: string; readonly path: string } => ({
    name,
    path: at,
  });

  it('to report workloads, beside the rules of the template', () => {
    const harness = new DeploymentHarness(deployment('agent'));
    harness.manifestConfigs = [
      {
        resourceIdentifier: identity,
        feedbackRules: [
          { type: 'WellKnownStatus' },
          { type: 'JSONPaths', jsonPaths: [path('x', '.a')] },
          { type: 'JSONPaths', jsonPaths: [path('x', '.b'), path('y', '.c')] },
        ],
        updateStrategy: { type: 'ServerSideApply' },
      },
      { resourceIdentifier: { resource: 'configmaps', name: 'a' }, updateStrategy: { type: 'CreateOnly' } },
    ];
    harness.settle();
    expect(harness.works[0]?.spec?.manifestConfigs).toEqual([
      {
        resourceIdentifier: identity,
        feedbackRules: [
          { type: 'WellKnownStatus' },
          { type: 'JSONPaths', jsonPaths: [path('x', '.a')] },
          { type: 'JSONPaths', jsonPaths: [path('y', '.c')] },
        ],
        updateStrategy: { type: 'ServerSideApply' },
      },
      { resourceIdentifier: { resource: 'configmaps', name: 'a' }, updateStrategy: { type: 'CreateOnly' } },
    ]);
  });

  const orphan = { 'addon.open-cluster-management.io/deletion-orphan': '' };
  const rule = { group: '', resource: 'configmaps', name: 'b', namespace: 'agent' };
  const own = { resource: 'secrets', name: 's', namespace: 'agent' };
  it.each([
    { name: 'marked manifests stay', given: undefined, want: { rules: [rule] } },
    {
      name: 'marked manifests stay beside those that the template names',
      given: {
        propagationPolicy: 'SelectivelyOrphan',
        selectivelyOrphans: { orphaningRules: [own] },
      } as const,
      want: { rules: [own, rule] },
    },
  ])('what stays when the add-on goes: $name', ({ given, want }) => {
    const harness = new DeploymentHarness(configMap('a'), configMap('b', orphan));
    harness.deleteOption = given;
    harness.settle();
    expect(harness.works[0]?.spec?.deleteOption).toEqual({
      propagationPolicy: 'SelectivelyOrphan',
      selectivelyOrphans: { orphaningRules: want.rules },
    });
  });

  it('that all stays, where the template says so', () => {
    const harness = new DeploymentHarness(configMap('b', orphan));
    harness.deleteOption = { propagationPolicy: 'Orphan', ttlSecondsAfterFinished: 1 };
    harness.settle();
    expect(harness.works[0]?.spec?.deleteOption).toEqual({ propagationPolicy: 'Orphan' });
  });
});
