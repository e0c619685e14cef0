import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { JsonObject } from '../../../hub/json/json-value.ts';
import { groupVersionOf, type ResourceRef } from '../../../hub/schema/resource-definition.ts';
import { createScheme } from '../../../hub/scheme/create-scheme.ts';
import { definitionFromCrd } from '../../../hub/scheme/crd.ts';

/** An object, or a kind in one version. */
type Kinded = Pick<KubeObject, 'apiVersion' | 'kind'>;

export interface HubKinds {
  /** Undefined if the kind, or this version of it, has no known definition. */
  refOf(object: Kinded): ResourceRef | undefined;
  /** The versions in which the kind of an object is served; empty if it has no known definition. */
  versionsOf(object: Kinded): readonly string[];
}

/**
 * The kinds of which a definition is known: those that ship with the embedded hub, and those that a
 * CustomResourceDefinition among the objects defines, which replaces one of the hub.
 */
export function hubKinds(objects: readonly KubeObject[]): HubKinds {
  const scheme = createScheme();
  for (const object of objects) {
    if (object.kind !== 'CustomResourceDefinition') continue;
    const definition = definitionOf(object as unknown as JsonObject);
    if (definition !== undefined) scheme.register(definition);
  }
  const versions = new Map<string, readonly string[]>();
  for (const { group, kind, versions: all } of scheme.definitions())
    versions.set(
      `${kind}.${group}`,
      all.filter(({ served }) => served).map(({ name }) => (group === '' ? name : `${group}/${name}`)),
    );
  return {
    refOf: ({ apiVersion, kind }) => {
      const { group, version } = groupVersionOf(apiVersion);
      return scheme.kind(group, version, kind);
    },
    versionsOf: ({ apiVersion, kind }) => versions.get(`${kind}.${groupVersionOf(apiVersion).group}`) ?? [],
  };
}

/** Undefined for a definition that cannot be read, which is refused itself. */
function definitionOf(crd: JsonObject): ReturnType<typeof definitionFromCrd> | undefined {
  try {
    return definitionFromCrd(crd);
  } catch {
    return undefined;
  }
}
