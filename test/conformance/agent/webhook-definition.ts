/**
 * The embedded hub calls no webhooks and so does not serve their configurations. What the agent does with one (it keeps a CA
 * bundle that somebody injected) is its own affair: here the kind is a custom resource that takes anything.
 */
export const WEBHOOK_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'validatingwebhookconfigurations.admissionregistration.k8s.io',
    annotations: { 'api-approved.kubernetes.io': 'unapproved, a stand-in of the test' },
  },
  spec: {
    group: 'admissionregistration.k8s.io',
    scope: 'Cluster',
    names: { kind: 'ValidatingWebhookConfiguration', plural: 'validatingwebhookconfigurations' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
} as const;
