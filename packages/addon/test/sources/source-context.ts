import type { SourceContext } from '../../src/sources/rendered-manifests.ts';

/** An add-on of a cluster, as a source is rendered for it. */
export function contextOf(more: Partial<SourceContext> = {}): SourceContext {
  return {
    cluster: { metadata: { name: 'cluster1' }, status: { version: { kubernetes: 'v1.30.2' } } },
    addon: {
      ...{ apiVersion: 'addon.open-cluster-management.io/v1alpha1', kind: 'ManagedClusterAddOn' },
      metadata: { namespace: 'cluster1', name: 'hello' },
    },
    signal: new AbortController().signal,
    ...more,
  };
}

export const ANNOTATED = (values: object): Pick<SourceContext, 'addon'> => ({
  addon: {
    ...contextOf().addon,
    metadata: {
      ...contextOf().addon.metadata,
      annotations: { 'addon.open-cluster-management.io/values': JSON.stringify(values) },
    },
  },
});

export const CONFIGURED = (
  customizedVariables: readonly { readonly name: string; readonly value: string }[],
) => ({
  deploymentConfig: {
    ...{ apiVersion: 'addon.open-cluster-management.io/v1alpha1', kind: 'AddOnDeploymentConfig' as const },
    metadata: { namespace: 'default', name: 'config' },
    spec: { customizedVariables },
  },
});
