import { describe, expect, it } from 'vitest';
import { tokenInfrastructure as readCondition } from '../../../../agent/src/rules/addons/addon-token.ts';
import {
  addOnOfInfrastructure,
  tokenInfrastructure,
  tokenInfrastructureFailed,
  tokenInfrastructureReady,
  usesTokens,
} from '../../../src/rules/registration/token-infrastructure.ts';
import { CLIENT, SIGNER, storedAddOn } from './stored-addon.ts';

const RBAC = 'rbac.authorization.k8s.io';

describe('what the hub makes for an add-on with tokens', () => {
  const objects = tokenInfrastructure('c1', 'hello').map(({ object }) => object);

  it('is an account, and the right of the cluster’s agents to ask for its tokens', () => {
    const [account, role, binding] = objects;
    expect(account?.metadata).toMatchObject({ namespace: 'c1', name: 'hello-agent' });
    expect(role).toMatchObject({
      metadata: { namespace: 'c1', name: 'hello-token-role' },
      rules: [
        {
          ...{ apiGroups: [''], resources: ['serviceaccounts/token'] },
          ...{ resourceNames: ['hello-agent'], verbs: ['create'] },
        },
        { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['subscribe'] },
      ],
    });
    expect(binding).toMatchObject({
      metadata: { namespace: 'c1', name: 'hello-token-role' },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'hello-token-role' },
      subjects: [
        { kind: 'Group', apiGroup: RBAC, name: 'system:open-cluster-management:c1' },
        { kind: 'Group', apiGroup: RBAC, name: 'open-cluster-management:c1' },
      ],
    });
  });

  it('says by its labels for which add-on it is', () => {
    expect(objects.map(addOnOfInfrastructure)).toEqual(['c1/hello', 'c1/hello', 'c1/hello']);
    for (const labels of [{}, { 'addon.open-cluster-management.io/name': 'hello' }])
      expect(
        addOnOfInfrastructure({
          apiVersion: 'v1',
          kind: 'Role',
          metadata: { name: 'x', namespace: 'c1', labels },
        }),
      ).toBeUndefined();
  });

  it('is named in a condition that the cluster’s agent understands', () => {
    const condition = tokenInfrastructureReady('c1', 'hello', 'u7');
    expect(condition).toMatchObject({
      ...{ status: 'True', reason: 'TokenInfrastructureReady' },
      message: 'ServiceAccount c1/hello-agent (UID: u7) is ready',
    });
    expect(readCondition([condition])).toEqual({ kind: 'ready', accountUid: 'u7' });
    expect(readCondition([tokenInfrastructureFailed('no right')])).toEqual({ kind: 'waiting' });
  });
});

it.each([
  ['the driver token', true, { kubeClientDriver: 'token', registrations: [{ signerName: CLIENT }] }],
  ['another driver', false, { kubeClientDriver: 'csr', registrations: [{ signerName: CLIENT }] }],
  ['no driver', false, { registrations: [{ signerName: CLIENT }] }],
  ['only its own signer', false, { kubeClientDriver: 'token', registrations: [{ signerName: SIGNER }] }],
])('an add-on with %s needs it: %s', (_, want, status) => {
  expect(usesTokens(storedAddOn(status))).toBe(want);
});
