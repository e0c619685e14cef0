import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/json-value.ts';
import { builtinSchema } from '../../src/scheme/builtin/builtin-schemas.ts';
import type { EmptyContainers } from '../../src/schema/typed-form.ts';
import { typedFields, typedForm, zeroObject } from '../../src/schema/typed-form.ts';

interface Case {
  readonly name: string;
  readonly type: string;
  readonly given: JsonObject;
  readonly want: JsonObject;
}

describe('what an API server writes of a built-in kind', () => {
  it.each<Case>([
    {
      name: 'a list without omitempty',
      type: 'rbac.v1.Role',
      given: {},
      want: { metadata: {}, rules: null },
    },
    {
      name: 'times of a condition',
      type: 'apps.v1.DeploymentCondition',
      given: { type: 'Available', status: 'True' },
      want: { type: 'Available', status: 'True', lastUpdateTime: null, lastTransitionTime: null },
    },
    {
      name: 'structs by value, counters included',
      type: 'policy.v1.PodDisruptionBudget',
      given: { spec: {} },
      want: {
        metadata: {},
        spec: {},
        status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
      },
    },
    {
      name: 'empty values behind pointers',
      type: 'core.v1.PersistentVolumeClaimSpec',
      given: { storageClassName: '', volumeName: '', accessModes: [] },
      want: { storageClassName: '', resources: {} },
    },
    {
      name: 'zero values without a pointer',
      type: 'apps.v1.DeploymentSpec',
      given: { replicas: 0, minReadySeconds: 0, paused: false, selector: null, template: null },
      want: {
        replicas: 0,
        selector: null,
        strategy: {},
        template: { metadata: {}, spec: { containers: null } },
      },
    },
    {
      name: 'nulls in maps and lists',
      type: 'core.v1.ConfigMap',
      given: { data: { a: null }, metadata: { finalizers: [null], labels: null } },
      want: { data: { a: '' }, metadata: { finalizers: [''] } },
    },
    {
      name: 'nulls for bytes',
      type: 'core.v1.Secret',
      given: { data: { a: null } },
      want: { data: { a: '' }, metadata: {} },
    },
    {
      name: 'quantities and times in one form',
      type: 'core.v1.NodeStatus',
      given: {
        capacity: { cpu: 4, memory: '1024Mi' },
        conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T02:00:00.9+02:00' }],
      },
      want: {
        capacity: { cpu: '4', memory: '1Gi' },
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            lastHeartbeatTime: '2026-01-01T00:00:00Z',
            lastTransitionTime: null,
          },
        ],
        daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
        nodeInfo: {
          architecture: '',
          bootID: '',
          containerRuntimeVersion: '',
          kernelVersion: '',
          kubeProxyVersion: '',
          kubeletVersion: '',
          machineID: '',
          operatingSystem: '',
          osImage: '',
          systemUUID: '',
        },
      },
    },
    {
      name: 'microseconds',
      type: 'coordination.v1.LeaseSpec',
      given: { renewTime: '2026-01-01T00:00:00Z', leaseTransitions: 0 },
      want: { renewTime: '2026-01-01T00:00:00.000000Z', leaseTransitions: 0 },
    },
  ])('$name', ({ type, given, want }) => {
    expect(typedForm(builtinSchema(type), given)).toEqual(want);
  });

  it('is the object itself when nothing is to be changed', () => {
    const role = { metadata: { name: 'a' }, rules: [{ verbs: ['get'], resources: ['pods'] }] };
    expect(typedForm(builtinSchema('rbac.v1.Role'), role)).toBe(role);
  });

  it('keeps empty lists for validation, and says so', () => {
    const hollows: EmptyContainers = { keep: 'all', found: false };
    const role = { rules: [] };
    expect(typedFields(builtinSchema('rbac.v1.Role'), role, hollows)).toBe(role);
    expect(hollows.found).toBe(true);
  });

  it('starts ownership from a type before its defaults', () => {
    expect(zeroObject(builtinSchema('core.v1.ReplicationController'))).toEqual({
      metadata: {},
      spec: {},
      status: { replicas: 0 },
    });
  });
});
