import { apiVersionOf, guessedResource, MANAGED_CLUSTER_ADDON, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeObject, OwnerReference } from '@berth/kube/model/object-meta';
import { groupVersionOf } from '@berth/kube/model/object-ref';
import {
  ADDON_NAMESPACE_LABEL,
  type AddOnConfigReference,
  CONFIG_HASH_ANNOTATION,
  type ManagedClusterAddOn,
} from '@berth/ocm/kind/addon';
import type {
  DeleteOption,
  FeedbackRule,
  ManifestConfig,
  ManifestWork,
  ManifestWorkSpec,
} from '@berth/ocm/kind/manifest-work';
import { ADDON_NAME_LABEL } from '@berth/ocm/registration/names';
import { goJsonText } from '@berth/runtime/json/go-json-text';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { sameWorkSpec } from '@berth/ocm/kind/same-work-spec';

/** One write to the works of an add-on. An update is complete, with the version that it replaces. */
export type WorkWrite =
  | { readonly do: 'create' | 'update'; readonly work: ManifestWork }
  | { readonly do: 'delete'; readonly work: ManifestWork };

export interface WantedWork {
  readonly addon: ManagedClusterAddOn;
  /** Of the cluster on which it is applied. */
  readonly namespace: string;
  readonly name: string;
  readonly current: ManifestWork | undefined;
  readonly spec: ManifestWorkSpec;
  /** Undefined: the work carries no hashes. */
  readonly configHashes?: string | undefined;
}

/**
 * The write that makes a work what an add-on needs; undefined if it is so. Labels and annotations of others stay. A work
 * that is being deleted is made again when it is gone.
 */
export function writeOf(wanted: WantedWork): WorkWrite | undefined {
  const { addon, namespace, name, current, spec } = wanted;
  if (current?.metadata.deletionTimestamp !== undefined) return undefined;
  const isOwn = namespace === addon.metadata.namespace;
  const labels = {
    ...current?.metadata.labels,
    [ADDON_NAME_LABEL]: addon.metadata.name,
    ...(isOwn ? {} : { [ADDON_NAMESPACE_LABEL]: addon.metadata.namespace ?? '' }),
  };
  const { [CONFIG_HASH_ANNOTATION]: _, ...others } = current?.metadata.annotations ?? {};
  const hashes = wanted.configHashes;
  const annotations = hashes === undefined ? others : { ...others, [CONFIG_HASH_ANNOTATION]: hashes };
  const before = current?.metadata.ownerReferences ?? [];
  const ownerReferences = isOwn ? ownersWith(addon, before) : before;
  if (current === undefined) {
    const metadata = { name, namespace, labels, annotations, ...(isOwn ? { ownerReferences } : {}) };
    return {
      do: 'create',
      work: { apiVersion: apiVersionOf(MANIFEST_WORK), kind: 'ManifestWork', metadata, spec },
    };
  }
  const isSame =
    sameWorkSpec(current.spec, spec) &&
    jsonEqual(labels, current.metadata.labels ?? {}) &&
    jsonEqual(annotations, current.metadata.annotations ?? {}) &&
    ownerReferences === before;
  if (isSame) return undefined;
  const metadata = { ...current.metadata, labels, annotations, ownerReferences };
  return { do: 'update', work: { ...current, metadata, spec } };
}

/** With the add-on as owner, so that its deletion cleans up. The version in which a reference names it does not matter. */
function ownersWith(
  { metadata: { name, uid = '' } }: ManagedClusterAddOn,
  before: readonly OwnerReference[],
): readonly OwnerReference[] {
  if (before.some((owner) => owner.uid === uid && owner.controller === true)) return before;
  const { kind } = MANAGED_CLUSTER_ADDON;
  const apiVersion = apiVersionOf(MANAGED_CLUSTER_ADDON);
  const own = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  return [...before.filter((owner) => owner.uid !== uid && owner.controller !== true), own];
}

/** What a work says about the configurations it was made from; undefined if there are none. */
export function configHashesText(references: readonly AddOnConfigReference[] = []): string | undefined {
  if (references.length === 0) return undefined;
  return goJsonText(Object.fromEntries(configHashes(references)));
}

/** `RESOURCE.GROUP/NAMESPACE/NAME` -> hash of what is desired. */
export function configHashes(references: readonly AddOnConfigReference[]): ReadonlyMap<string, string> {
  return new Map(
    references.flatMap(({ group, resource, desiredConfig }) => {
      if (desiredConfig === null || desiredConfig === undefined) return [];
      const { namespace = '', name, specHash } = desiredConfig;
      return [
        [`${group === '' ? resource : `${resource}.${group}`}/${namespace}/${name}`, specHash] as const,
      ];
    }),
  );
}

const DELETION_ORPHAN = 'addon.open-cluster-management.io/deletion-orphan';

/**
 * What happens to the objects on the cluster when the add-on goes: manifests with the mark stay, for the others the template
 * decides.
 */
export function deleteOptionOf(
  manifests: readonly KubeObject[],
  own: DeleteOption | undefined,
): DeleteOption | undefined {
  const { propagationPolicy, selectivelyOrphans } = own ?? {};
  const marked = manifests.filter(({ metadata }) => metadata.annotations?.[DELETION_ORPHAN] !== undefined);
  if (marked.length === 0 || propagationPolicy === 'Orphan')
    return propagationPolicy === undefined ? undefined : { propagationPolicy, selectivelyOrphans };
  const orphaningRules = [
    ...(selectivelyOrphans?.orphaningRules ?? []),
    ...marked.map(({ apiVersion, kind, metadata: { name, namespace = '' } }) => ({
      ...{ group: groupVersionOf(apiVersion).group, resource: guessedResource(kind), name, namespace },
    })),
  ];
  return { propagationPolicy: 'SelectivelyOrphan', selectivelyOrphans: { orphaningRules } };
}

/** The configs of a template, joined with those that the health check needs. */
export function joinConfigs(
  needed: readonly ManifestConfig[],
  own: readonly ManifestConfig[],
): readonly ManifestConfig[] {
  return own.reduce<readonly ManifestConfig[]>((configs, config) => {
    const same = configs.find((other) => jsonEqual(other.resourceIdentifier, config.resourceIdentifier));
    if (same === undefined) return [...configs, config];
    const feedbackRules = (config.feedbackRules ?? []).reduce(joinRule, same.feedbackRules ?? []);
    return configs.map((other) => (other === same ? { ...same, ...config, feedbackRules } : other));
  }, needed);
}

/** A path is known by its name: of two with one name the first counts. */
function joinRule(rules: readonly FeedbackRule[], rule: FeedbackRule): readonly FeedbackRule[] {
  if (rule.type === 'WellKnownStatus')
    return rules.some(({ type }) => type === rule.type) ? rules : [...rules, rule];
  const known = new Set(rules.flatMap(({ jsonPaths }) => (jsonPaths ?? []).map(({ name }) => name)));
  const jsonPaths = (rule.jsonPaths ?? []).filter(({ name }) => !known.has(name));
  return jsonPaths.length === 0 ? rules : [...rules, { type: rule.type, jsonPaths }];
}
