import type { JsonObject } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { definitionName } from '../scheme/root-schema.ts';

/** Name of a definition in OpenAPI documents, e.g. `io.k8s.api.apps.v1.Deployment`. */
export function schemaNameOf({ definition, version }: ResourceRef): string {
  return version.schema.name ?? definitionName(definition.group, version.name, definition.kind);
}

/** The OpenAPI extensions by which clients find the definition of a kind. */
export function kindExtensions({ definition, version }: ResourceRef): JsonObject {
  const kind = { group: definition.group, kind: definition.kind, version: version.name };
  return { 'x-kubernetes-group-version-kind': [kind] };
}
