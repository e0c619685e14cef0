import {
  type ResourceDefinition,
  type ResourceRef,
  compareVersionPriority,
} from '../schema/resource-definition.ts';

/** The resources of one group and version, sorted by plural. */
export interface VersionResources {
  readonly version: string;
  readonly resources: readonly ResourceRef[];
}

export interface GroupVersions {
  readonly group: string;
  /** By priority; the first is the preferred version. */
  readonly versions: readonly VersionResources[];
}

/**
 * Registry of all served resources. Changes when a custom resource definition is established or
 * deleted.
 */
export class Scheme {
  readonly #definitions = new Map<string, ResourceDefinition>();
  readonly #resources = new Map<string, ResourceRef>();
  readonly #kinds = new Map<string, ResourceRef>();
  /**
   * The built-in definitions. One that a custom definition replaced is restored when that one is
   * deleted.
   */
  readonly #initial = new Map<string, ResourceDefinition>();
  #revision = 0;
  #groups: readonly GroupVersions[] | undefined;
  #tables: readonly ResourceRef[] | undefined;

  constructor(definitions: Iterable<ResourceDefinition>) {
    for (const definition of definitions) {
      this.#initial.set(key(definition.group, definition.plural), definition);
      this.register(definition);
    }
  }

  /** Increases with every change; caches of discovery and OpenAPI use it as their key. */
  get revision(): number {
    return this.#revision;
  }

  /** Adds a resource, or replaces the one with the same group and plural. */
  register(definition: ResourceDefinition): void {
    this.#forget(definition.group, definition.plural);
    this.#definitions.set(key(definition.group, definition.plural), definition);
    for (const version of definition.versions) {
      if (!version.served) continue;
      const ref: ResourceRef = { definition, version };
      this.#resources.set(key(definition.group, version.name, definition.plural), ref);
      this.#kinds.set(key(definition.group, version.name, definition.kind), ref);
    }
    this.#changed();
  }

  unregister(group: string, plural: string): void {
    const initial = this.initial(group, plural);
    if (initial !== undefined) this.register(initial);
    else if (this.#forget(group, plural)) this.#changed();
  }

  resource(group: string, version: string, plural: string): ResourceRef | undefined {
    return this.#resources.get(key(group, version, plural));
  }

  kind(group: string, version: string, kind: string): ResourceRef | undefined {
    return this.#kinds.get(key(group, version, kind));
  }

  /** The definition that was there from the start, whatever replaced it. */
  initial(group: string, plural: string): ResourceDefinition | undefined {
    return this.#initial.get(key(group, plural));
  }

  definition(group: string, plural: string): ResourceDefinition | undefined {
    return this.#definitions.get(key(group, plural));
  }

  definitions(): readonly ResourceDefinition[] {
    return [...this.#definitions.values()];
  }

  /**
   * Each table of objects once, in its storage version, served or not. Controllers use it to visit
   * all objects.
   */
  tables(): readonly ResourceRef[] {
    this.#tables ??= this.#findTables();
    return this.#tables;
  }

  #findTables(): readonly ResourceRef[] {
    const tables = new Map<string, ResourceRef>();
    for (const definition of this.#definitions.values()) {
      const version = definition.versions.find(({ storage }) => storage) ?? definition.versions[0];
      if (version !== undefined && !tables.has(definition.storageKey))
        tables.set(definition.storageKey, { definition, version });
    }
    return [...tables.values()];
  }

  /** Groups in the order of discovery: the core group, Kubernetes' own, then custom ones by name. */
  groups(): readonly GroupVersions[] {
    this.#groups ??= groupsOf(this.#resources.values());
    return this.#groups;
  }

  #forget(group: string, plural: string): boolean {
    const known = this.#definitions.get(key(group, plural));
    if (known === undefined) return false;
    this.#definitions.delete(key(group, plural));
    for (const version of known.versions) {
      this.#resources.delete(key(group, version.name, plural));
      this.#kinds.delete(key(group, version.name, known.kind));
    }
    return true;
  }

  #changed(): void {
    this.#revision += 1;
    this.#groups = undefined;
    this.#tables = undefined;
  }
}

function key(...parts: readonly string[]): string {
  return parts.join('/');
}

function groupsOf(refs: Iterable<ResourceRef>): readonly GroupVersions[] {
  const byGroup = new Map<string, Map<string, ResourceRef[]>>();
  const builtIn = new Set<string>();
  for (const ref of refs) {
    const { group } = ref.definition;
    if (ref.definition.builtIn) builtIn.add(group);
    const versions = byGroup.get(group) ?? new Map<string, ResourceRef[]>();
    byGroup.set(group, versions);
    versions.set(ref.version.name, [...(versions.get(ref.version.name) ?? []), ref]);
  }
  const rank = (group: string): number => (group === '' ? 0 : builtIn.has(group) ? 1 : 2);
  return [...byGroup.keys()]
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map((group) => ({ group, versions: versionsOf(byGroup.get(group) as Map<string, ResourceRef[]>) }));
}

function versionsOf(versions: ReadonlyMap<string, readonly ResourceRef[]>): readonly VersionResources[] {
  return [...versions]
    .sort(([a], [b]) => compareVersionPriority(a, b))
    .map(([version, refs]) => ({
      version,
      resources: [...refs].sort((a, b) => (a.definition.plural < b.definition.plural ? -1 : 1)),
    }));
}
