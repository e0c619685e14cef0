import { isOwned } from '@berth/agent/rules/applied/ownership';
import { guessedResource } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { groupVersionOf, namespacedName } from '@berth/kube/model/object-ref';
import { ADDON_NAMESPACE_LABEL, type StatusRegistration } from '@berth/ocm/kind/addon';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { CLIENT_SIGNER } from '@berth/ocm/registration/names';
import { formatNameList } from '@berth/runtime/text/name-list';

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
