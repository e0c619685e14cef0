import type { KindInfo } from '@berth/kube/model/kinds';
import type {
  AddOnConfigReference,
  ConfigKind,
  ConfigReferent,
  DefaultConfigReference,
  ManagedClusterAddOn,
} from '@berth/ocm/kind/addon';

/** What a configuration is at the moment. An object that is not there has the hash ''. */
export interface FoundConfig {
  readonly specHash: string;
  readonly generation: number | undefined;
}

/** @returns undefined where another process reads the configuration, whose hash then stays as it is */
export type ConfigLookup = (config: ConfigKind & ConfigReferent) => FoundConfig | undefined;

/** The name of the default of a kind that has none, in v1beta1. */
export const NO_DEFAULT = '__reserved_no_default__';

export function sameKind(left: ConfigKind, right: ConfigKind): boolean {
  return left.group === right.group && left.resource === right.resource;
}

/** Whether a configuration has this kind. */
export function isOfKind({ group, resource }: ConfigKind, kind: KindInfo): boolean {
  return group === kind.group && resource === kind.plural;
}

export function sameReferent(left: ConfigReferent, right: ConfigReferent): boolean {
  return left.name === right.name && (left.namespace ?? '') === (right.namespace ?? '');
}

/** Whether a reference is to this configuration. */
export function isConfig({ desiredConfig }: DefaultConfigReference, config: ConfigReferent): boolean {
  return desiredConfig !== undefined && desiredConfig !== null && sameReferent(desiredConfig, config);
}

/** References of a ClusterManagementAddOn with the hashes of their objects. */
export function withHashes<Reference extends DefaultConfigReference>(
  references: readonly Reference[],
  lookup: ConfigLookup,
): readonly Reference[] {
  return references.map((reference) => {
    const { group, resource, desiredConfig } = reference;
    if (desiredConfig === undefined || desiredConfig === null) return reference;
    const found = lookup({ group, resource, ...desiredConfig });
    return found === undefined || found.specHash === desiredConfig.specHash
      ? reference
      : { ...reference, desiredConfig: { ...desiredConfig, specHash: found.specHash } };
  });
}

/**
 * References of a cluster's add-on with what their objects are now: the generation of each, and the hash of those that the add-on
 * names itself, if their kind is supported. Source: addon-framework `pkg/addonmanager/controllers/addonconfig`.
 */
export function withOwnHashes(
  references: readonly AddOnConfigReference[],
  { spec }: Pick<ManagedClusterAddOn, 'spec'>,
  { supported, lookup }: { readonly supported: readonly ConfigKind[]; readonly lookup: ConfigLookup },
): readonly AddOnConfigReference[] {
  return references.map((reference) => {
    const { group, resource, desiredConfig } = reference;
    if (desiredConfig === undefined || desiredConfig === null) return reference;
    const found = lookup({ group, resource, ...desiredConfig });
    if (found === undefined) return reference;
    const isOwn =
      supported.some((kind) => sameKind(kind, reference)) &&
      (spec?.configs ?? []).some(
        (config) => sameKind(config, reference) && sameReferent(config, desiredConfig),
      );
    return {
      ...reference,
      lastObservedGeneration: found.generation ?? reference.lastObservedGeneration,
      ...(isOwn && { desiredConfig: { ...desiredConfig, specHash: found.specHash } }),
    };
  });
}
