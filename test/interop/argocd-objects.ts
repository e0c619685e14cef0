import type { JsonObject } from '@berth/embedded-hub/json/json-value';

/**
 * A definition of one of Argo CD's kinds, free-form: the controllers decide with their own types. Only what they set to null is
 * in it: an API server takes a null away where a field is described and may not be null.
 * @param subresources `{status: {}}` where Argo CD's own definition has it
 */
export function crd(plural: string, kind: string, subresources: JsonObject = {}): JsonObject {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  // The application controller of Argo CD 3.6 sets the operation to null when it ends.
  const openAPIV3Schema = { ...open, ...(kind === 'Application' && { properties: { operation: open } }) };
  const version = {
    name: 'v1alpha1',
    served: true,
    storage: true,
    subresources,
    schema: { openAPIV3Schema },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.argoproj.io` },
    spec: {
      group: 'argoproj.io',
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [version],
    },
  };
}
