import { apiVersionOf, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { type AddOnConfig, DEFAULT_INSTALL_NAMESPACE } from '@berth/ocm/kind/addon';
import { jsonEqual } from '@berth/runtime/json/json-equal';

/** How an add-on is enabled, the same on each cluster. */
export interface Enabling {
  /** Undefined: where it is already, or in the namespace that the API gives. */
  readonly namespace?: string | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** Undefined: those that it has. */
  readonly configs?: readonly AddOnConfig[] | undefined;
}

export interface EnabledAddOn {
  /** A ManagedClusterAddOn in v1alpha1, with everything that others wrote. */
  readonly object: KubeObject;
  /** What an existing add-on gets, as words for users. */
  readonly changed: readonly string[];
}

interface Spec {
  readonly installNamespace?: string;
  readonly configs?: readonly AddOnConfig[];
}

/**
 * The add-on of a cluster as a command enables it. Labels and annotations of others stay; `clusteradm` replaces them.
 * @param before what the cluster has already
 */
export function enabledAddOn(
  key: { readonly name: string; readonly cluster: string },
  enabling: Enabling,
  before: KubeObject | undefined,
): EnabledAddOn {
  const { labels, annotations } = enabling;
  const spec = (before?.['spec'] ?? {}) as Spec;
  const installNamespace = enabling.namespace ?? spec.installNamespace ?? DEFAULT_INSTALL_NAMESPACE;
  const configs = enabling.configs ?? spec.configs;
  const metadata = before?.metadata ?? { name: key.name, namespace: key.cluster };
  const object = {
    ...before,
    apiVersion: apiVersionOf(MANAGED_CLUSTER_ADDON),
    kind: MANAGED_CLUSTER_ADDON.kind,
    metadata: {
      ...metadata,
      ...withMore('labels', metadata.labels, labels),
      ...withMore('annotations', metadata.annotations, annotations),
    },
    spec: { ...spec, installNamespace, ...(configs !== undefined && { configs }) },
  };
  const differs = (given: Readonly<Record<string, string>>, had: Readonly<Record<string, string>> = {}) =>
    Object.keys(given).filter((name) => given[name] !== had[name]);
  const changed = [
    ...(installNamespace === spec.installNamespace ? [] : [`namespace ${installNamespace}`]),
    ...differs(labels, metadata.labels).map((name) => `label ${name}`),
    ...differs(annotations, metadata.annotations).map((name) => `annotation ${name}`),
    ...(jsonEqual(configs ?? [], spec.configs ?? []) ? [] : ['configurations']),
  ];
  return { object, changed };
}

function withMore(
  field: 'labels' | 'annotations',
  had: Readonly<Record<string, string>> | undefined,
  more: Readonly<Record<string, string>>,
): object {
  return Object.keys(more).length === 0 ? {} : { [field]: { ...had, ...more } };
}
