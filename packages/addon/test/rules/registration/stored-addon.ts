import type { AddOnTemplate, TemplateRegistration } from '@berth/ocm/kind/addon';
import type { StoredAddOn } from '../../../src/rules/registration/plan-registration.ts';

const GROUP = 'addon.open-cluster-management.io';
export const PREFIX = 'system:open-cluster-management:cluster:c1:addon:hello';
export const CLIENT = 'kubernetes.io/kube-apiserver-client';
export const SIGNER = 'example.com/agents';

/** The add-on `hello` of cluster `c1`, which shall use the template `hello-1`. */
export function storedAddOn(status: StoredAddOn['status'] = {}, metadata: object = {}): StoredAddOn {
  const desiredConfig = { name: 'hello-1', specHash: 'abc' };
  const reference = { group: GROUP, resource: 'addontemplates', lastObservedGeneration: 1, desiredConfig };
  return {
    metadata: { namespace: 'c1', name: 'hello', uid: 'u1', ...metadata },
    status: { configReferences: [reference], ...status },
  };
}

export function template(...registration: readonly TemplateRegistration[]): AddOnTemplate {
  return {
    ...{ apiVersion: `${GROUP}/v1alpha1`, kind: 'AddOnTemplate', metadata: { name: 'hello-1' } },
    spec: { addonName: 'hello', agentSpec: { workload: { manifests: [] } }, registration },
  };
}

export const KUBE_CLIENT: TemplateRegistration = { type: 'KubeClient' };

export const CUSTOM_SIGNER: TemplateRegistration = {
  type: 'CustomSigner',
  customSigner: {
    signerName: SIGNER,
    subject: { user: 'hello-agent', groups: ['agents'], organizationUnit: ['unit-7'] },
    signingCA: { name: 'agents-ca' },
  },
};
