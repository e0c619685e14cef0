import { describe, expect, it } from 'vitest';
import type { Condition } from '@berth/kube/model/object-meta';
import { addonHealth, type Probe } from '../../../src/rules/deployment/addon-health.ts';
import { at, condition, configMap, daemonSet, DeploymentHarness, deployment } from './deployment-harness.ts';

const AVAILABLE: readonly Condition[] = [condition('Applied', 'True'), condition('Available', 'True')];
const RUNS = { ReadyReplicas: 1, Replicas: 2 };

/** An add-on whose agent has reported its works as applied. */
function reported(
  harness: DeploymentHarness,
  values: Parameters<DeploymentHarness['report']>[2],
): DeploymentHarness {
  harness.settle();
  harness.report('deploy', AVAILABLE, values).settle();
  return harness;
}

describe('the health of an add-on of a template', () => {
  it('is said to be judged by the hub, for an add-on that is registered', () => {
    expect(new DeploymentHarness().plan().healthMode).toBe('Customized');
    expect(new DeploymentHarness().without('RegistrationApplied').plan().healthMode).toBeUndefined();
  });

  it('is not written before the agent has reported whether it applied the manifests', () => {
    const harness = new DeploymentHarness(deployment('agent'));
    harness.settle();
    expect(harness.state('Available')).toBeUndefined();
  });

  it.each([
    {
      name: 'no work',
      given: (one: DeploymentHarness) => Object.assign(one, { works: [], isRolledOut: false }),
      want: ['Unknown WorkNotFound', 'Addon manifestWork is not found'],
    },
    {
      name: 'a work that is not applied yet',
      given: (one: DeploymentHarness) => one.report('deploy', [condition('Applied', 'True')]),
      want: ['Unknown WorkNotApplied', 'Addon manifestWork is not applied yet'],
    },
    {
      name: 'a work that is not available',
      given: (one: DeploymentHarness) =>
        one.report('deploy', [
          condition('Applied', 'True'),
          condition('Available', 'False', '1 of 2 are missing'),
        ]),
      want: ['False WorkNotApplied', '1 of 2 are missing'],
    },
    {
      name: 'no feedback',
      given: (one: DeploymentHarness) => one.report('deploy', AVAILABLE),
      want: ['Unknown NoProbeResult', 'Probe results are not returned'],
    },
    {
      name: 'a Deployment that runs',
      given: (one: DeploymentHarness) => one.report('deploy', AVAILABLE, { agent: RUNS }),
      want: ['True ProbeAvailable', 'web add-on is available.'],
    },
    {
      name: 'a Deployment without ready replicas',
      given: (one: DeploymentHarness) =>
        one.report('deploy', AVAILABLE, { agent: { ReadyReplicas: 0, Replicas: 2 } }),
      want: [
        'False ProbeUnavailable',
        'Probe addon unavailable with err desiredNumberReplicas is 2 but readyReplica is 0 for deployments agent/agent',
      ],
    },
    {
      name: 'a Deployment that does not report its ready replicas',
      given: (one: DeploymentHarness) => one.report('deploy', AVAILABLE, { agent: { Replicas: 2 } }),
      want: ['False ProbeUnavailable', 'Probe addon unavailable with err readyReplica is not probed'],
    },
    {
      name: 'a Deployment that does not report its replicas',
      given: (one: DeploymentHarness) => one.report('deploy', AVAILABLE, { agent: { ReadyReplicas: 2 } }),
      want: [
        'False ProbeUnavailable',
        'Probe addon unavailable with err desiredNumberReplicas is not probed',
      ],
    },
    {
      name: 'a Deployment that was scaled to nothing on the cluster',
      given: (one: DeploymentHarness) =>
        one.report('deploy', AVAILABLE, { agent: { ReadyReplicas: 0, Replicas: 0 } }),
      want: ['True ProbeAvailable', 'web add-on is available.'],
    },
  ])('$name', ({ given, want }) => {
    const harness = reported(new DeploymentHarness(deployment('agent')), {});
    given(harness).settle();
    expect([harness.state('Available'), harness.message('Available')]).toEqual(want);
  });

  it.each([
    {
      name: 'needs each DaemonSet on all its nodes',
      values: { NumberReady: 2, DesiredNumberScheduled: 3 },
      want: 'False',
    },
    {
      name: 'has a DaemonSet on all its nodes',
      values: { NumberReady: 3, DesiredNumberScheduled: 3 },
      want: 'True',
    },
    {
      name: 'has a DaemonSet without a node',
      values: { NumberReady: 0, DesiredNumberScheduled: 0 },
      want: 'True',
    },
  ])('$name', ({ values, want }) => {
    const harness = reported(new DeploymentHarness(daemonSet('agent')), { agent: values });
    expect(harness.state('Available')?.split(' ')[0]).toBe(want);
  });

  it('is that of all Deployments; one without replicas in the template is not asked', () => {
    const harness = new DeploymentHarness(deployment('a'), deployment('b'), deployment('off', {}, 0));
    reported(harness, { a: RUNS, b: { ReadyReplicas: 0, Replicas: 1 }, off: { Replicas: 0 } });
    expect(harness.message('Available')).toContain('deployments agent/b');
    harness.report('deploy', AVAILABLE, { a: RUNS, b: RUNS, off: { Replicas: 0 } }).settle();
    expect(harness.state('Available')).toBe('True ProbeAvailable');
  });

  it('is good without a Deployment or DaemonSet when the work is available', () => {
    expect(reported(new DeploymentHarness(configMap('a')), {}).state('Available')).toBe(
      'True ProbeAvailable',
    );
  });

  it('stays while the cluster is unknown, and is judged again afterwards', () => {
    const harness = reported(new DeploymentHarness(deployment('agent')), { agent: RUNS });
    harness.cluster('c1', { conditions: [condition('ManagedClusterConditionAvailable', 'Unknown')] });
    harness.set({ ...condition('Available', 'Unknown'), reason: 'ManagedClusterLeaseUpdateStopped' });
    harness.settle();
    expect(harness.state('Available')).toBe('Unknown ManagedClusterLeaseUpdateStopped');
    harness.cluster('c1', { conditions: [condition('Available', 'True')] }).settle();
    expect(harness.state('Available')).toBe('True ProbeAvailable');
  });

  it('stays when the template cannot be rendered', () => {
    const harness = reported(new DeploymentHarness(deployment('agent')), { agent: RUNS });
    harness.renderError = 'there is none';
    harness.settle();
    expect(harness.state('Available')).toBe('True ProbeAvailable');
  });

  it('counts the workloads on the hosting cluster', () => {
    const harness = new DeploymentHarness(configMap('a'), deployment('agent', at('hosting')));
    reported(harness.cluster('h1').hosted('h1'), { agent: { ReadyReplicas: 0, Replicas: 1 } });
    expect(harness.message('Available')).toContain('deployments agent/agent');
  });
});

describe('a probe', () => {
  const ask: Probe = {
    fields: [{ group: 'apps', resource: 'deployments', name: 'a*', namespace: '*' }],
    check: (results) => results.map(({ resource }) => resource.name).join(' '),
  };

  it('finds resources by patterns, of those that reported a value', () => {
    const harness = new DeploymentHarness(
      deployment('a1'),
      deployment('a2'),
      deployment('a3'),
      deployment('b'),
    );
    reported(harness, { a1: RUNS, a2: RUNS, b: RUNS });
    const cluster = harness.clusters.get('c1') ?? expect.fail();
    expect(addonHealth('web', cluster, harness.works, ask)).toEqual({
      ...{ type: 'Available', status: 'False', reason: 'ProbeUnavailable' },
      message: 'Probe addon unavailable with err a1 a2',
    });
  });
});
