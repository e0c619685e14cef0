import type {
  AddOnConfig,
  ClusterManagementAddOn,
  ClusterManagementAddOnStatus,
  ConfigKind,
  ConfigReferent,
  ConfigSpecHash,
  DefaultConfigReference,
  InstallConfigReference,
  InstallPlacement,
  InstallProgression,
} from '@berth/ocm/kind/addon';
import { compareUtf8 } from '@berth/runtime/text/utf8';
import { isManagedHere } from './addon-versions.ts';
import { type ConfigLookup, isConfig, NO_DEFAULT, sameKind, sameReferent } from './config-references.ts';

/**
 * The references in the status of a ClusterManagementAddOn: its defaults, and for each placement of the strategy the configurations
 * that its clusters get. As OCM 1.3 (pkg/addon/controllers/cmainstallprogression), with the hashes that upstream's add-ons write later.
 */
export function planReferences(
  addOn: ClusterManagementAddOn,
  lookup: ConfigLookup,
): Pick<ClusterManagementAddOnStatus, 'defaultConfigReferences' | 'installProgressions'> {
  const { spec, status = {} } = addOn;
  const defaults = (spec.defaultConfigs ?? []).filter(({ name }) => name !== '' && name !== NO_DEFAULT);
  const defaultConfigReferences = defaults.map(({ group, resource, ...referent }) =>
    hashed({ group, resource }, referent, status.defaultConfigReferences ?? [], lookup),
  );
  const { type, placements = [] } = spec.installStrategy ?? {};
  if (type !== 'Placements') return { defaultConfigReferences, installProgressions: [] };
  if (!isManagedHere(addOn))
    return { defaultConfigReferences, installProgressions: status.installProgressions };
  const installProgressions = placements.map((placement) =>
    progressionOf(placement, defaults, status.installProgressions ?? [], lookup),
  );
  return { defaultConfigReferences, installProgressions };
}

/** Configurations of the strategy replace the defaults of their kind. One whose configurations changed starts again. */
function progressionOf(
  { namespace, name, configs = [] }: InstallPlacement,
  defaults: readonly AddOnConfig[],
  known: readonly InstallProgression[],
  lookup: ConfigLookup,
): InstallProgression {
  const inherited = defaults.filter((config) => !configs.some((own) => sameKind(own, config)));
  const all = [...inherited, ...configs];
  const named = all
    .filter(
      (config, at) => all.findIndex((other) => sameKind(other, config) && sameReferent(other, config)) === at,
    )
    .sort((a, b) => compareUtf8(a.group, b.group) || compareUtf8(a.resource, b.resource));
  const before = known.find(
    (one) =>
      one.namespace === namespace &&
      one.name === name &&
      named.every((config) =>
        one.configReferences?.some((reference) => sameKind(reference, config) && isConfig(reference, config)),
      ),
  );
  const configReferences = named.map(({ group, resource, ...referent }): InstallConfigReference => {
    const references = before?.configReferences ?? [];
    const found = references.find(
      (reference) => sameKind(reference, { group, resource }) && isConfig(reference, referent),
    );
    const { lastAppliedConfig, lastKnownGoodConfig } = found ?? {};
    return {
      ...hashed({ group, resource }, referent, references, lookup),
      ...(lastAppliedConfig && { lastAppliedConfig }),
      ...(lastKnownGoodConfig && { lastKnownGoodConfig }),
    };
  });
  return {
    ...{ namespace, name, configReferences },
    ...(before?.conditions !== undefined && { conditions: before.conditions }),
  };
}

function hashed(
  kind: ConfigKind,
  { namespace, name }: ConfigReferent,
  known: readonly DefaultConfigReference[],
  lookup: ConfigLookup,
): DefaultConfigReference & { readonly desiredConfig: ConfigSpecHash } {
  const referent = { ...(namespace ? { namespace } : {}), name };
  const before = known.find((reference) => sameKind(reference, kind) && isConfig(reference, referent));
  const specHash = lookup({ ...kind, ...referent })?.specHash ?? before?.desiredConfig?.specHash ?? '';
  return { ...kind, desiredConfig: { ...referent, specHash } };
}
