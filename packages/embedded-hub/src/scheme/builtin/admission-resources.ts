import type { BuiltinResource } from './builtin-resource.ts';

/** Webhooks and policies. */
export const ADMISSION_RESOURCES: readonly BuiltinResource[] = [
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'MutatingWebhookConfiguration',
    schema: 'admissionregistration.v1.MutatingWebhookConfiguration',
    clusterScoped: true,
  },
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingAdmissionPolicy',
    schema: 'admissionregistration.v1.ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    clusterScoped: true,
    status: true,
  },
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    schema: 'admissionregistration.v1.ValidatingAdmissionPolicyBinding',
    clusterScoped: true,
  },
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingWebhookConfiguration',
    schema: 'admissionregistration.v1.ValidatingWebhookConfiguration',
    clusterScoped: true,
  },
];
