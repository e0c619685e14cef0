import { ADDON_TEMPLATE, apiVersionOf, CLUSTER_MANAGEMENT_ADDON } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { LIFECYCLE_ANNOTATION, TEMPLATES } from '@berth/addon/rules/addon-versions';

/** An add-on of plain manifests, as `clusteradm addon create` makes it. */
export interface ManifestAddOn {
  readonly name: string;
  readonly version: string;
  readonly manifests: readonly KubeObject[];
  readonly labels: Readonly<Record<string, string>>;
  /** Whether its agent is a client of the hub. */
  readonly registers: boolean;
  /** A ClusterRole of the hub, for the agent in the namespace of its cluster. */
  readonly clusterRole?: string | undefined;
  /** Undefined: people choose the clusters. */
  readonly placement?: { readonly namespace: string; readonly name: string } | undefined;
}

export function templateNameOf({ name, version }: Pick<ManifestAddOn, 'name' | 'version'>): string {
  return `${name}-${version}`;
}

/** @param before what the hub has; its metadata stays */
export function addOnTemplate(addOn: ManifestAddOn, before?: KubeObject): KubeObject {
  const permission = { type: 'CurrentCluster', currentCluster: { clusterRoleName: addOn.clusterRole } };
  const kubeClient = { hubPermissions: addOn.clusterRole === undefined ? [] : [permission] };
  return {
    apiVersion: apiVersionOf(ADDON_TEMPLATE),
    kind: ADDON_TEMPLATE.kind,
    metadata: withLabels(before?.metadata ?? { name: templateNameOf(addOn) }, addOn.labels),
    spec: {
      addonName: addOn.name,
      agentSpec: { workload: { manifests: addOn.manifests } },
      ...(addOn.registers && { registration: [{ type: 'KubeClient', kubeClient }] }),
    },
  };
}

interface Spec {
  readonly supportedConfigs?: readonly SupportedConfig[];
  readonly installStrategy?: object;
}

interface SupportedConfig {
  readonly group?: string;
  readonly resource: string;
  readonly defaultConfig?: { readonly name: string };
}

const isTemplates = ({ group, resource }: SupportedConfig): boolean =>
  group === TEMPLATES.group && resource === TEMPLATES.resource;

/** The AddOnTemplate that an existing ClusterManagementAddOn uses where nothing else is said. */
export function defaultTemplateOf(addOn: KubeObject): string | undefined {
  return ((addOn['spec'] ?? {}) as Spec).supportedConfigs?.find(isTemplates)?.defaultConfig?.name;
}

/**
 * The ClusterManagementAddOn of a template. Of an existing one only the template changes, and the placement if one is given;
 * `clusteradm` replaces the rest, too.
 */
export function addOnOfTemplate(addOn: ManifestAddOn, before?: KubeObject): KubeObject {
  const spec = (before?.['spec'] ?? {}) as Spec;
  const template = { ...TEMPLATES, defaultConfig: { name: templateNameOf(addOn) } };
  const placements = addOn.placement && { type: 'Placements', placements: [addOn.placement] };
  const metadata = before?.metadata ?? {
    name: addOn.name,
    annotations: { [LIFECYCLE_ANNOTATION]: 'addon-manager' },
  };
  return {
    apiVersion: apiVersionOf(CLUSTER_MANAGEMENT_ADDON),
    kind: CLUSTER_MANAGEMENT_ADDON.kind,
    metadata: withLabels(metadata, addOn.labels),
    spec: {
      ...spec,
      supportedConfigs: [...(spec.supportedConfigs ?? []).filter((one) => !isTemplates(one)), template],
      installStrategy: placements ?? spec.installStrategy ?? { type: 'Manual' },
    },
  };
}

/** Whether a write would change nothing. */
export function isSameAddOn(wanted: KubeObject, before: KubeObject): boolean {
  return (
    jsonEqual(wanted['spec'] ?? {}, before['spec'] ?? {}) &&
    jsonEqual(wanted.metadata.labels ?? {}, before.metadata.labels ?? {})
  );
}

function withLabels(
  metadata: KubeObject['metadata'],
  labels: ManifestAddOn['labels'],
): KubeObject['metadata'] {
  return Object.keys(labels).length === 0
    ? metadata
    : { ...metadata, labels: { ...metadata.labels, ...labels } };
}
