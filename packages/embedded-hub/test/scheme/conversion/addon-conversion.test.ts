import { describe, expect, it } from 'vitest';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import type { GivenKinds } from '../../../src/scheme/create-scheme.ts';
import { PipelineStore } from '../../write/pipeline-store.ts';

const GROUP = 'addon.open-cluster-management.io';
const CONVERSIONS: GivenKinds['conversions'] = OCM_HUB_KINDS.conversions;
const NAMESPACE = `${GROUP}/v1alpha1-install-namespace`;

const RELATED = { relatedObjects: [{ group: 'a', resource: 'b', namespace: 's', name: 'n' }] };

/** As OCM's webhook converts them: both directions give the other side. */
const CASES = [
  {
    name: 'configurations and their defaults',
    kind: 'ClusterManagementAddOn',
    v1alpha1: {
      spec: {
        addOnMeta: { displayName: 'x' },
        supportedConfigs: [
          { group: 'a', resource: 'b', defaultConfig: { name: 'n', namespace: 's' } },
          { group: 'a', resource: 'c' },
        ],
      },
      status: { defaultconfigReferences: [{ resource: 'b' }] },
    },
    v1beta1: {
      spec: {
        addOnMeta: { displayName: 'x' },
        defaultConfigs: [
          { group: 'a', resource: 'b', name: 'n', namespace: 's' },
          { group: 'a', resource: 'c', name: '__reserved_no_default__' },
        ],
      },
      status: { defaultConfigReferences: [{ resource: 'b' }] },
    },
  },
  {
    name: 'the namespace of an instance, and its related objects',
    kind: 'ManagedClusterAddOn',
    v1alpha1: { metadata: { annotations: { a: 'b' } }, spec: { installNamespace: 'here' }, status: RELATED },
    v1beta1: { metadata: { annotations: { a: 'b', [NAMESPACE]: 'here' } }, spec: {}, status: RELATED },
  },
  {
    name: 'registrations and references of an instance',
    kind: 'ManagedClusterAddOn',
    v1alpha1: {
      metadata: {},
      spec: { configs: [{ group: 'a', resource: 'b', name: 'c' }] },
      status: {
        kubeClientDriver: 'token',
        registrations: [
          { signerName: 'kubernetes.io/kube-apiserver-client', subject: { user: 'u', groups: ['g'] } },
          { signerName: 'example.com/signer', subject: { user: 'v', organizationUnit: ['o'] } },
        ],
        configReferences: [
          { resource: 'b', name: 'd', namespace: 's', desiredConfig: { name: 'd', namespace: 's' } },
        ],
      },
    },
    v1beta1: {
      metadata: {},
      spec: { configs: [{ group: 'a', resource: 'b', name: 'c' }] },
      status: {
        registrations: [
          { type: 'kubeClient', kubeClient: { driver: 'token', subject: { user: 'u', groups: ['g'] } } },
          {
            type: 'customSigner',
            customSigner: {
              signerName: 'example.com/signer',
              subject: { user: 'v', organizationUnits: ['o'] },
            },
          },
        ],
        configReferences: [{ resource: 'b', desiredConfig: { name: 'd', namespace: 's' } }],
      },
    },
  },
];

describe('the versions of the add-on API', () => {
  it.each(CASES)('carry $name', ({ kind, v1alpha1, v1beta1 }) => {
    const convert = CONVERSIONS[`${kind.toLowerCase()}s.${GROUP}`] as GivenKinds['conversions'][string];
    const alpha = { apiVersion: `${GROUP}/v1alpha1`, kind, ...v1alpha1 };
    const beta = { apiVersion: `${GROUP}/v1beta1`, kind, ...v1beta1 };
    expect(convert(alpha, beta.apiVersion)).toEqual(beta);
    expect(convert(beta, alpha.apiVersion)).toEqual(alpha);
  });

  it('refuses a registration without its client', () => {
    const convert = CONVERSIONS[`managedclusteraddons.${GROUP}`] as GivenKinds['conversions'][string];
    const status = { registrations: [{ type: 'kubeClient' }] };
    expect(() => convert({ metadata: {}, spec: {}, status }, `${GROUP}/v1alpha1`)).toThrow(/nil KubeClient/);
  });

  it('need no webhook when the definitions of OCM are applied', () => {
    const store = new PipelineStore();
    const versions = ['v1alpha1', 'v1beta1'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1alpha1',
      schema: { openAPIV3Schema: { type: 'object' } },
    }));
    const service = { namespace: 'open-cluster-management-hub', name: 'addon-webhook' };
    const conversion = {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { service } },
    };
    const names = { plural: 'managedclusteraddons', kind: 'ManagedClusterAddOn' };
    store.install({
      metadata: { name: `managedclusteraddons.${GROUP}` },
      spec: { group: GROUP, scope: 'Namespaced', names, conversion, versions },
    });
    expect(store.scheme.definition(GROUP, 'managedclusteraddons')?.conversion?.kind).toBe('built-in');
  });
});
