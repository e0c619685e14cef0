import type { JsonObject } from '../../src/hub/json/json-value.ts';
import { OCM_GROUPS, ocmSchema } from '../../src/core/ocm/ocm-groups.ts';
import { createScheme } from '../../src/hub/scheme/create-scheme.ts';

/**
 * The CustomResourceDefinitions of OCM from the hub's own tables, which `test/hub/scheme/ocm-kinds.test.ts` compares
 * with the published ones field by field.
 */
export function ocmCrds(): readonly JsonObject[] {
  const scheme = createScheme();
  return Object.entries(OCM_GROUPS).flatMap(([group, kinds]) =>
    kinds.map(({ kind, cluster, short, versions }): JsonObject => {
      const definition = scheme.definitions().find((one) => one.group === group && one.kind === kind);
      const plural = definition?.plural ?? '';
      return {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: {
          name: `${plural}.${group}`,
          annotations: { 'api-approved.kubernetes.io': 'https://example.com' },
        },
        spec: {
          group,
          scope: cluster === true ? 'Cluster' : 'Namespaced',
          names: { plural, kind, listKind: `${kind}List`, shortNames: [...(short ?? [])] },
          versions: versions.map((version) => ({
            name: version.name,
            served: true,
            storage: version.storage === true,
            schema: { openAPIV3Schema: ocmSchema(version) },
            subresources: version.status === true ? { status: {} } : {},
          })),
        },
      };
    }),
  );
}
