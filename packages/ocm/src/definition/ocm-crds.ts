import type { JsonObject } from '@berth/runtime/json/json-value';
import { OCM_GROUPS, ocmSchema } from './ocm-groups.ts';
import type { OcmKind } from './ocm-kind.ts';

/**
 * The CustomResourceDefinitions of OCM's kinds, made from the one description of their fields.
 * @param groups default: all
 */
export function ocmCrds(groups: readonly string[] = Object.keys(OCM_GROUPS)): readonly JsonObject[] {
  return groups.flatMap((group) => (OCM_GROUPS[group] ?? []).map((row) => crdOf(group, row)));
}

function crdOf(group: string, { kind, cluster, short, versions }: OcmKind): JsonObject {
  const singular = kind.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      scope: cluster === true ? 'Cluster' : 'Namespaced',
      names: {
        plural: `${singular}s`,
        singular,
        kind,
        listKind: `${kind}List`,
        shortNames: [...(short ?? [])],
      },
      versions: versions.map((version) => ({
        name: version.name,
        served: true,
        storage: version.storage === true,
        schema: { openAPIV3Schema: ocmSchema(version) },
        subresources: version.status === true ? { status: {} } : {},
        ...(version.columns !== undefined && {
          additionalPrinterColumns: version.columns.map((column) => ({ ...column })),
        }),
      })),
    },
  };
}
