import { describe, expect, it } from 'vitest';
import type { Condition } from '@berth/kube/model/object-meta';
import {
  at,
  condition,
  configMap,
  DeploymentHarness,
  deployment,
  HOSTING_CLEANUP,
  HOSTING_PRE_DELETE,
  hookJob,
  NOW,
  PRE_DELETE,
} from './deployment-harness.ts';

const AVAILABLE: readonly Condition[] = [condition('Applied', 'True'), condition('Available', 'True')];
const DEPLOY = 'c1/addon-web-deploy-0';
const HOOK = 'c1/addon-web-pre-delete';
const HOSTED = 'h1/addon-web-deploy-hosting-c1-0';
const HOSTED_HOOK = 'h1/addon-web-pre-delete-hosting-c1';

describe('hooks before an add-on is deleted', () => {
  it('put the finalizer before any work is there, and do not run before the deletion', () => {
    const harness = new DeploymentHarness(configMap('a'), hookJob('clean'));
    expect(harness.step()).toEqual([`+ ${PRE_DELETE}`]);
    expect(harness.settle()).toEqual([`create ${DEPLOY}`]);
    expect(harness.contents()).toEqual({ [DEPLOY]: ['a'] });
  });

  it('run at the deletion, and keep the add-on until the Job is complete', () => {
    const harness = new DeploymentHarness(configMap('a'), hookJob('clean'));
    harness.settle();
    expect(harness.delete().settle()).toEqual([`create ${HOOK}`]);
    expect(harness.state('HookManifestCompleted')).toBe('False HookManifestIsNotCompleted');
    expect(harness.message('HookManifestCompleted')).toBe(
      'hook manifestWork addon-web-pre-delete is not completed.',
    );
    expect(harness.works[1]?.spec?.manifestConfigs).toEqual([
      {
        resourceIdentifier: { group: 'batch', resource: 'jobs', name: 'clean', namespace: 'agent' },
        feedbackRules: [{ type: 'WellKnownStatus' }],
      },
    ]);
    harness.report('pre-delete', AVAILABLE, { clean: { JobComplete: 'False' } });
    expect(harness.step()).toEqual([]);
    harness.report('pre-delete', [condition('Available', 'False')], { clean: { JobComplete: 'True' } });
    expect(harness.step()).toEqual([]);
    harness.report('pre-delete', AVAILABLE, { clean: { JobComplete: 'True' } });
    expect(harness.step()).toEqual([`- ${PRE_DELETE}`]);
    expect(harness.state('HookManifestCompleted')).toBe('True HookManifestIsCompleted');
    expect(harness.message('HookManifestCompleted')).toBe(
      'hook manifestWork addon-web-pre-delete is completed.',
    );
  });

  it('are done when all of them are: a Pod has succeeded, too', () => {
    const mark = { metadata: { name: 'pod', namespace: 'agent', annotations: { [PRE_DELETE]: '' } } };
    const pod = { apiVersion: 'v1', kind: 'Pod', ...mark };
    const harness = new DeploymentHarness(hookJob('clean'), pod);
    harness.settle();
    harness.delete().step();
    harness.report('pre-delete', AVAILABLE, { clean: { JobComplete: 'True' }, pod: { PodPhase: 'Running' } });
    expect(harness.step()).toEqual([]);
    harness.report('pre-delete', AVAILABLE, {
      clean: { JobComplete: 'True' },
      pod: { PodPhase: 'Succeeded' },
    });
    expect(harness.step()).toEqual([`- ${PRE_DELETE}`]);
  });

  it('are marked by the old label, too; other kinds with the mark are ordinary', () => {
    const labels = { 'open-cluster-management.io/addon-pre-delete': '' };
    const job = { ...hookJob('clean'), metadata: { name: 'clean', namespace: 'agent', labels } };
    const harness = new DeploymentHarness(job, configMap('a', { [PRE_DELETE]: '' }));
    expect(harness.settle()).toEqual([`+ ${PRE_DELETE}`, `create ${DEPLOY}`]);
    expect(harness.contents()).toEqual({ [DEPLOY]: ['a'] });
  });

  it('keep the agent up to date while they run', () => {
    const harness = new DeploymentHarness(configMap('a'), hookJob('clean'));
    harness.settle();
    harness.delete().settle();
    harness.manifests = [configMap('a', {}, '2'), hookJob('clean')];
    expect(harness.settle()).toEqual([`update ${DEPLOY}`]);
  });

  it('run although the rollout of a newer configuration has not come here', () => {
    const harness = new DeploymentHarness(configMap('a'), hookJob('clean'));
    harness.settle();
    harness.set(condition('Configured', 'False'));
    expect(harness.delete().settle()).toEqual([`create ${HOOK}`]);
  });

  it('keep the add-on while they cannot be rendered', () => {
    const harness = new DeploymentHarness(configMap('a'), hookJob('clean'));
    harness.settle();
    harness.renderError = 'there is none';
    expect(harness.delete().settle()).toEqual([]);
    expect(harness.state('ManifestApplied')).toBe('False ManifestWorkApplyFailed');
  });

  it('lose their finalizer when the template has none any more, but not by a template that was not rolled out', () => {
    const harness = new DeploymentHarness(configMap('a'), hookJob('clean'));
    harness.settle();
    harness.manifests = [configMap('a')];
    harness.isRolledOut = false;
    expect(harness.settle()).toEqual([]);
    harness.isRolledOut = true;
    expect(harness.settle()).toEqual([`- ${PRE_DELETE}`]);
  });

  it('do not run for an add-on that was deleted before it had the finalizer', () => {
    expect(new DeploymentHarness(hookJob('clean')).delete().settle()).toEqual([]);
  });

  it('have finalizers of old names removed', () => {
    const harness = new DeploymentHarness();
    const finalizers = ['cluster.open-cluster-management.io/addon-pre-delete', 'other'];
    harness.addon = { ...harness.addon, metadata: { ...harness.addon.metadata, finalizers } };
    harness.settle();
    expect(harness.addon.metadata.finalizers).toEqual(['other']);
  });
});

describe('an add-on that another cluster hosts', () => {
  function hosted(): DeploymentHarness {
    const manifests = [
      configMap('plain'),
      configMap('managed', at('managed')),
      deployment('agent', at('hosting')),
      configMap('nowhere', at('none')),
    ];
    return new DeploymentHarness(...manifests).cluster('h1').hosted('h1');
  }

  it('has its manifests on both clusters, each in the place that its annotation names', () => {
    const harness = hosted();
    expect(harness.settle()).toEqual([`+ ${HOSTING_CLEANUP}`, `create ${DEPLOY}`, `create ${HOSTED}`]);
    expect(harness.contents()).toEqual({ [DEPLOY]: ['plain', 'managed'], [HOSTED]: ['agent'] });
    expect(harness.works[1]?.metadata).toEqual({
      ...{ name: 'addon-web-deploy-hosting-c1-0', namespace: 'h1' },
      labels: {
        'open-cluster-management.io/addon-name': 'web',
        'open-cluster-management.io/addon-namespace': 'c1',
      },
      annotations: harness.works[0]?.metadata.annotations,
    });
    expect(harness.state('HostingClusterValidity')).toBe('True HostingClusterValid');
    expect(harness.message('HostingClusterValidity')).toBe(
      'hosting cluster h1 is a managed cluster of the hub',
    );
    harness.report('deploy', AVAILABLE).step();
    expect(harness.state('HostingManifestApplied')).toBe('True AddonManifestApplied');
  });

  it('goes completely to its own cluster without the annotation, and is not checked', () => {
    const harness = new DeploymentHarness(configMap('a', at('none')), configMap('b', at('moon')));
    harness.settle();
    expect(harness.contents()).toEqual({ [DEPLOY]: ['a', 'b'] });
  });

  it('is not deployed with a location that does not exist', () => {
    const harness = new DeploymentHarness(configMap('b', at('moon'))).cluster('h1').hosted('h1');
    expect(harness.settle()).toEqual([`+ ${HOSTING_CLEANUP}`]);
    expect(harness.message('ManifestApplied')).toBe(
      'failed to build manifestwork: not supported manifest location: moon',
    );
  });

  it('keeps what it has when the hosting cluster is not known, until it is deleted', () => {
    const harness = hosted();
    harness.settle();
    harness.hosted('tpyo');
    expect(harness.settle()).toEqual([]);
    expect(harness.state('HostingClusterValidity')).toBe('False HostingClusterInvalid');
    expect(harness.message('HostingClusterValidity')).toBe(
      'hosting cluster tpyo is not a managed cluster of the hub',
    );
    expect(harness.delete().settle()).toEqual([`delete ${HOSTED}`, `- ${HOSTING_CLEANUP}`]);
  });

  it('moves to another hosting cluster: there first', () => {
    const harness = hosted();
    harness.settle();
    harness.cluster('h2').hosted('h2');
    expect(harness.settle()).toEqual(['create h2/addon-web-deploy-hosting-c1-0', `delete ${HOSTED}`]);
  });

  it('comes back to its own cluster: there first', () => {
    const harness = hosted();
    harness.settle();
    harness.hostingCluster = undefined;
    expect(harness.settle()).toEqual([`update ${DEPLOY}`, `delete ${HOSTED}`, `- ${HOSTING_CLEANUP}`]);
  });

  it.each([
    { name: 'the add-on is deleted', given: (one: DeploymentHarness) => one.delete() },
    {
      name: 'the hosting cluster is deleted',
      given: (one: DeploymentHarness) => one.cluster('h1', { isGoing: true }),
    },
  ])('is cleaned up in the namespace of the hosting cluster when $name', ({ given }) => {
    const harness = hosted();
    harness.settle();
    expect(given(harness).settle()).toEqual([`delete ${HOSTED}`, `- ${HOSTING_CLEANUP}`]);
  });

  it('stays as it is while its own cluster is being deleted', () => {
    const harness = hosted();
    harness.settle();
    harness.cluster('c1', { isGoing: true });
    harness.manifests = [deployment('agent', at('hosting'), 2)];
    expect(harness.settle()).toEqual([]);
  });

  it('runs the hooks of both clusters, and ends when both are done', () => {
    const harness = hosted();
    harness.manifests = [...harness.manifests, hookJob('here'), hookJob('there', at('hosting'))];
    harness.settle();
    expect(harness.addon.metadata.finalizers).toEqual([PRE_DELETE, HOSTING_CLEANUP, HOSTING_PRE_DELETE]);
    expect(harness.delete().settle()).toEqual([`create ${HOOK}`, `create ${HOSTED_HOOK}`]);
    harness.report('pre-delete', AVAILABLE, { here: { JobComplete: 'True' } });
    expect(harness.settle()).toEqual([`- ${PRE_DELETE}`]);
    expect(harness.state('HookManifestCompleted')).toBe('False HookManifestIsNotCompleted');
    harness.report('hosting-c1', AVAILABLE, { there: { JobComplete: 'True' } });
    expect(harness.settle()).toEqual([
      ...[`delete ${HOSTED_HOOK}`, `- ${HOSTING_PRE_DELETE}`],
      ...[`delete ${HOSTED}`, `- ${HOSTING_CLEANUP}`],
    ]);
    expect(harness.addon.metadata).toMatchObject({ finalizers: [], deletionTimestamp: NOW });
    expect(harness.state('HookManifestCompleted')).toBe('True HookManifestIsCompleted');
  });
});
