import { isOwned } from '@berth/agent/rules/applied/ownership';
import { apiVersionOf, guessedResource, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { groupVersionOf, namespacedName } from '@berth/kube/model/object-ref';
import {
  ADDON_NAMESPACE_LABEL,
  type AddOnConfig,
  DEFAULT_INSTALL_NAMESPACE,
  type StatusRegistration,
} from '@berth/ocm/kind/addon';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { CLIENT_SIGNER } from '@berth/ocm/registration/names';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { formatNameList } from '@berth/runtime/text/name-list';

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

/**
 * What a cluster loses with an add-on, a line each.
 * @param addon a ManagedClusterAddOn in v1alpha1
 * @param works with the label of the add-on's name, of any cluster
 */
export function whatGoes(addon: KubeObject, works: readonly ManifestWork[]): readonly string[] {
  const { metadata } = addon;
  const status = (addon['status'] ?? {}) as { readonly registrations?: readonly StatusRegistration[] };
  const own = works.filter(
    (work) =>
      (work.metadata.labels?.[ADDON_NAMESPACE_LABEL] ?? work.metadata.namespace) === metadata.namespace,
  );
  const users = (status.registrations ?? []).map(({ signerName, subject }) =>
    signerName === CLIENT_SIGNER
      ? `removes its access to the hub as ${subject?.user ?? 'a client'}`
      : `removes its certificate of ${signerName}`,
  );
  const hooks = (metadata.finalizers ?? []).filter((finalizer) => finalizer.endsWith('addon-pre-delete'));
  return [...own.flatMap(workLines), ...users, ...(hooks.length === 0 ? [] : ['runs its hooks before that'])];
}

function workLines({ metadata, spec }: ManifestWork): readonly string[] {
  const manifests = spec?.workload?.manifests ?? [];
  const [goes, stays]: [string[], string[]] = [[], []];
  for (const manifest of manifests) {
    const { name, namespace } = manifest.metadata;
    const { group } = groupVersionOf(manifest.apiVersion);
    const resource = { group, resource: guessedResource(manifest.kind), name, namespace };
    (isOwned(spec?.deleteOption, resource) ? goes : stays).push(
      `${manifest.kind} ${namespacedName(manifest.metadata)}`,
    );
  }
  const work = `ManifestWork ${namespacedName(metadata)}`;
  return [
    goes.length === 0 ? `removes ${work}` : `removes ${work} with ${formatNameList(goes)}`,
    ...(stays.length === 0 ? [] : [`keeps ${formatNameList(stays)}`]),
  ];
}
