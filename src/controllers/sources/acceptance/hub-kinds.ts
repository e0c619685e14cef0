import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { JsonObject } from '@berth/embedded-hub/json/json-value';
import { type ResourceDefinition, type ResourceRef } from '@berth/embedded-hub/schema/resource-definition';
import { createScheme } from '@berth/embedded-hub/scheme/create-scheme';
import type { Scheme } from '@berth/embedded-hub/scheme/scheme';
import { definitionFromCrd } from '@berth/embedded-hub/scheme/crd';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';

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
  const scheme = createScheme(OCM_HUB_KINDS);
  for (const object of objects) {
    if (object.kind !== 'CustomResourceDefinition') continue;
    const definition = definitionOf(object as unknown as JsonObject, scheme);
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
function definitionOf(crd: JsonObject, scheme: Scheme): ResourceDefinition | undefined {
  try {
    return definitionFromCrd(crd, scheme);
  } catch {
    return undefined;
  }
}
