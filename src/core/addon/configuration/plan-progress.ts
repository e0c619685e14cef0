import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import type { Condition } from '@berth/kube/model/object-meta';
import {
  CONFIG_HASH_ANNOTATION,
  HOSTING_CLUSTER_ANNOTATION,
  type AddOnConfigReference,
  type ManagedClusterAddOn,
  type ManagedClusterAddOnStatus,
} from '@berth/ocm/kind/addon';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { addonNames } from '@berth/ocm/registration/addon-names';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { sameKind } from '@berth/addon/rules/config-references';
import { configHashes } from '@berth/addon/rules/deployment/addon-work';

/**
 * How far a cluster's add-on is with its configurations: the condition `Progressing`, and what was applied last. What was applied stays
 * when a work fails later, so that a rollout does not go back. As OCM 1.3 (pkg/addon/controllers/addonprogressing).
 * @param works those of the add-on, on its cluster and on the one that hosts it
 */
export function planProgress(
  addon: ManagedClusterAddOn,
  works: readonly ManifestWork[],
  now: string,
): Pick<ManagedClusterAddOnStatus, 'conditions' | 'configReferences'> {
  const { conditions = [], configReferences = [] } = addon.status ?? {};
  const condition = progressOf(addon, works);
  return {
    conditions: setCondition(conditions, condition, now),
    configReferences:
      condition.reason === 'Completed'
        ? configReferences.map((one) =>
            one.desiredConfig ? { ...one, lastAppliedConfig: one.desiredConfig } : one,
          )
        : configReferences,
  };
}

/** Whether nothing was said of its progress and its works yet. */
export function isNew({ status }: ManagedClusterAddOn): boolean {
  return ['Progressing', 'ManifestApplied'].every(
    (type) => findCondition(status?.conditions, type) === undefined,
  );
}

function progressOf(addon: ManagedClusterAddOn, works: readonly ManifestWork[]): Condition {
  const { metadata, spec, status } = addon;
  const supported = status?.supportedConfigs ?? [];
  const foreign = (spec?.configs ?? []).find((config) => !supported.some((one) => sameKind(one, config)));
  if (foreign !== undefined)
    return progressing(
      'ConfigurationUnsupported',
      `Configuration with gvr ${foreign.group}/${foreign.resource} is not supported for this addon`,
    );
  const isHosted = (metadata.annotations?.[HOSTING_CLUSTER_ANNOTATION] ?? '') !== '';
  const lacks = (type: string): boolean => findCondition(status?.conditions, type) === undefined;
  if (lacks('ManifestApplied'))
    return progressing(
      'WaitingForManifestApplied',
      'Waiting for ManagedClusterAddOn ManifestApplied condition',
    );
  if (isHosted && lacks('HostingManifestApplied'))
    return progressing(
      'WaitingForHostingManifestApplied',
      'Waiting for ManagedClusterAddOn HostingManifestApplied condition',
    );
  if (works.length === 0) return progressing('Progressing', 'progressing... no addon works');
  const preDelete = addonNames(metadata.name, metadata.namespace ?? '').preDeleteWork;
  for (const work of works.filter(({ metadata: { name } }) => !name.startsWith(preDelete))) {
    if (!hasConfigs(work, status?.configReferences ?? []))
      return progressing('Progressing', 'progressing... mca and work configs mismatch');
    if (!isReady(work)) return progressing('Progressing', 'progressing... work is not ready');
  }
  return progressing('Completed', 'completed with no errors.');
}

function progressing(reason: string, message: string): Condition {
  return { type: 'Progressing', status: reason === 'Progressing' ? 'True' : 'False', reason, message };
}

/** Whether a work was made from the configurations that its add-on should have. */
function hasConfigs({ metadata }: ManifestWork, references: readonly AddOnConfigReference[]): boolean {
  const text = metadata.annotations?.[CONFIG_HASH_ANNOTATION];
  if (text === undefined) return references.length === 0;
  const hashes = parsed(text);
  if (hashes === undefined || Object.values(hashes).includes('')) return false;
  if (references.some(({ desiredConfig }) => (desiredConfig?.specHash ?? '') === '')) return false;
  return jsonEqual(hashes, Object.fromEntries(configHashes(references)));
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

function isReady({ metadata, status }: ManifestWork): boolean {
  return ['Available', 'Applied'].every((type) => {
    const condition = findCondition(status?.conditions, type);
    return condition?.status === 'True' && condition.observedGeneration === metadata.generation;
  });
}
