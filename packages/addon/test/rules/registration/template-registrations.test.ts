import { describe, expect, it } from 'vitest';
import type { HubPermission, TemplateRegistration } from '@berth/ocm/kind/addon';
import { desiredTemplate, planRegistration } from '../../../src/rules/registration/template-registrations.ts';
import { isOwned, type StoredAddOn } from '../../../src/rules/registration/plan-registration.ts';
import { CLIENT, CUSTOM_SIGNER, KUBE_CLIENT, PREFIX, SIGNER, storedAddOn, template } from './stored-addon.ts';

const OWN = {
  user: `${PREFIX}:agent:hello-agent`,
  groups: [PREFIX, 'system:open-cluster-management:addon:hello'],
};
const RBAC = 'rbac.authorization.k8s.io';
const ACCOUNT = 'system:serviceaccount:c1:hello-agent';

const current = (clusterRoleName: string): HubPermission => ({
  type: 'CurrentCluster',
  currentCluster: { clusterRoleName },
});
const single = (namespace: string, name: string, kind = 'Role'): HubPermission => ({
  type: 'SingleNamespace',
  singleNamespace: { namespace, roleRef: { apiGroup: RBAC, kind, name } },
});
const client = (...hubPermissions: readonly HubPermission[]): TemplateRegistration => ({
  type: 'KubeClient',
  kubeClient: { hubPermissions },
});
const plan = (addon: StoredAddOn, ...registration: readonly TemplateRegistration[]) =>
  planRegistration(addon, 'hello-1', template(...registration));
const bindings = (addon: StoredAddOn, ...permissions: readonly HubPermission[]) =>
  (plan(addon, client(...permissions)).permissions ?? []).map(({ object }) => object);

describe('the registrations of an add-on', () => {
  const wanted = (addon: StoredAddOn, ...registration: readonly TemplateRegistration[]) =>
    plan(addon, ...registration).registrations;

  it('are a client of the hub and those of the template’s signers', () => {
    expect(wanted(storedAddOn(), KUBE_CLIENT, CUSTOM_SIGNER)).toEqual([
      { signerName: CLIENT, subject: OWN },
      { signerName: SIGNER, subject: CUSTOM_SIGNER.customSigner?.subject },
    ]);
  });

  it('have the subject of the add-on where a signer has none', () => {
    const customSigner = { signerName: SIGNER, signingCA: { name: 'ca' } };
    expect(wanted(storedAddOn(), { type: 'CustomSigner', customSigner })).toEqual([
      { signerName: SIGNER, subject: OWN },
    ]);
  });

  it('are one for each signer: the first', () => {
    expect(wanted(storedAddOn(), KUBE_CLIENT, client(), CUSTOM_SIGNER, CUSTOM_SIGNER)).toHaveLength(2);
    expect(wanted(storedAddOn(), { type: 'CustomSigner' })).toEqual([]);
  });

  it('keep the user that the cluster’s agent wrote, with the driver token', () => {
    const registrations = [{ signerName: CLIENT, subject: { user: ACCOUNT } }];
    const token = { kubeClientDriver: 'token' };
    expect(wanted(storedAddOn({ ...token, registrations }), KUBE_CLIENT)).toEqual(registrations);
    expect(wanted(storedAddOn(token), KUBE_CLIENT)).toEqual([{ signerName: CLIENT, subject: {} }]);
    const back = { kubeClientDriver: 'csr', registrations };
    expect(wanted(storedAddOn(back), KUBE_CLIENT)).toEqual([{ signerName: CLIENT, subject: OWN }]);
  });
});

describe('the condition RegistrationApplied', () => {
  it('is True when the rights are known', () => {
    expect(plan(storedAddOn(), KUBE_CLIENT).condition).toEqual({
      ...{ type: 'RegistrationApplied', status: 'True', reason: 'SetPermissionApplied' },
      message: 'Registration of the addon agent is configured',
    });
  });

  it('is False without the template, and nothing else changes', () => {
    const registrations = [{ signerName: SIGNER, subject: { user: 'x' } }];
    const planned = planRegistration(storedAddOn({ registrations }), 'hello-1', undefined);
    expect(planned).toEqual({
      ...{ registrations, permissions: undefined },
      condition: {
        ...{ type: 'RegistrationApplied', status: 'False', reason: 'SetPermissionFailed' },
        message:
          'Failed to set permission for hub agent: PermissionConfig failed to get addon template for addon c1/hello: addontemplate.addon.open-cluster-management.io "hello-1" not found',
      },
    });
  });

  it.each([
    ['CurrentCluster', 'current cluster is required when the HubPermission type is CurrentCluster'],
    ['SingleNamespace', 'single namespace is required when the HubPermission type is SingleNamespace'],
  ] as const)('is False for a permission of type %s without its part', (type, why) => {
    const planned = plan(storedAddOn(), client({ type }));
    expect(planned.condition).toMatchObject({
      ...{ status: 'False', reason: 'SetPermissionFailed' },
      message: `Failed to set permission for hub agent: ${why}`,
    });
    expect(planned.permissions).toBeUndefined();
  });

  it.each<[string, object]>([
    ['has not named a user', {}],
    ['named another user', { registrations: [{ signerName: CLIENT, subject: { user: 'admin' } }] }],
    ['named a group', { registrations: [{ signerName: CLIENT, subject: { groups: ['system:masters'] } }] }],
  ])('is False while the cluster’s agent %s, with the driver token', (_, status) => {
    const addon = storedAddOn({ kubeClientDriver: 'token', ...status });
    const planned = plan(addon, client(current('reader')));
    expect(planned.permissions).toBeUndefined();
    expect(planned.condition).toMatchObject({
      ...{ status: 'False', reason: 'PermissionConfigPending', message: 'registration subject not ready' },
    });
    expect(plan(addon, KUBE_CLIENT).condition).toMatchObject({ status: 'True' });
  });
});

describe('the rights of an add-on', () => {
  const names = (...permissions: readonly HubPermission[]) =>
    bindings(storedAddOn(), ...permissions).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

  it('are bound in the namespace of the cluster, to the add-on on that cluster alone', () => {
    const subject = { apiGroup: RBAC };
    expect(bindings(storedAddOn(), current('reader'))).toEqual([
      {
        ...{ apiVersion: `${RBAC}/v1`, kind: 'RoleBinding' },
        metadata: {
          ...{ namespace: 'c1', name: 'open-cluster-management:hello:clusterrole:agent' },
          labels: {
            'open-cluster-management.io/addon-name': 'hello',
            'open-cluster-management.io/addon-template-name': '',
            'open-cluster-management.io/cluster-name': 'c1',
          },
          ownerReferences: [
            {
              apiVersion: 'addon.open-cluster-management.io/v1alpha1',
              ...{ kind: 'ManagedClusterAddOn', name: 'hello', uid: 'u1' },
            },
          ],
        },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'reader' },
        subjects: [
          { ...subject, kind: 'User', name: OWN.user },
          { ...subject, kind: 'Group', name: PREFIX },
        ],
      },
    ]);
  });

  it('are bound in another namespace under the name of the cluster, without an owner', () => {
    const [binding] = bindings(storedAddOn(), single('shared', 'writer'));
    expect(binding?.metadata).toMatchObject({
      ...{ namespace: 'shared', name: 'open-cluster-management:hello:role:agent:c1' },
    });
    expect(binding?.metadata.ownerReferences).toBeUndefined();
    expect(binding?.['roleRef']).toEqual({ apiGroup: RBAC, kind: 'Role', name: 'writer' });
  });

  it('are those of the account with the driver token', () => {
    const registrations = [{ signerName: CLIENT, subject: { user: ACCOUNT } }];
    const addon = storedAddOn({ kubeClientDriver: 'token', registrations });
    expect(bindings(addon, current('reader')).map((object) => object['subjects'])).toEqual([
      [{ apiGroup: RBAC, kind: 'User', name: ACCOUNT }],
    ]);
  });

  it('are never those of a user that a template names for the hub’s own signer', () => {
    const signer = { signerName: CLIENT, subject: { user: 'admin', groups: ['system:masters'] } };
    const customSigner = { ...signer, signingCA: { name: 'ca' } };
    const { permissions = [] } = plan(
      storedAddOn(),
      { type: 'CustomSigner', customSigner },
      client(current('reader')),
    );
    expect(permissions.map(({ object }) => object['subjects'])).toEqual([
      [
        { apiGroup: RBAC, kind: 'User', name: OWN.user },
        { apiGroup: RBAC, kind: 'Group', name: PREFIX },
      ],
    ]);
  });

  it('have a name for each role', () => {
    expect(
      names(current('a'), current('b'), current('a'), single('c1', 'a', 'ClusterRole'), current('b')),
    ).toEqual([
      'c1/open-cluster-management:hello:clusterrole:agent',
      'c1/open-cluster-management:hello:clusterrole:agent:b',
      'c1/open-cluster-management:hello:clusterrole:agent:c1',
    ]);
  });
});

describe('an add-on', () => {
  it.each<[string, string | undefined, object]>([
    ['has the template of its references', 'hello-1', {}],
    ['has none without references', undefined, { configReferences: [] }],
    [
      'has none that is not read yet',
      undefined,
      {
        configReferences: [
          {
            ...{ group: 'addon.open-cluster-management.io', resource: 'addontemplates' },
            ...{ lastObservedGeneration: 0, desiredConfig: { name: 'hello-1', specHash: '' } },
          },
        ],
      },
    ],
  ])('%s', (_, want, status) => {
    expect(desiredTemplate(storedAddOn(status))).toBe(want);
  });

  it('is nobody’s until its ClusterManagementAddOn owns it', () => {
    const owner = { apiVersion: 'addon/v1', kind: 'ClusterManagementAddOn', name: 'hello', uid: 'x' };
    expect(isOwned(storedAddOn())).toBe(false);
    expect(isOwned(storedAddOn({}, { ownerReferences: [{ ...owner, name: 'other' }] }))).toBe(false);
    expect(isOwned(storedAddOn({}, { ownerReferences: [owner] }))).toBe(true);
  });
});
