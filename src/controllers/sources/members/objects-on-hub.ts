import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { identityOf, formatRef, refOf } from '@berth/kube/model/object-ref';
import { BerthError, TransientError } from '@berth/runtime/errors';
import { groupBy } from '@berth/runtime/lists/group-by';
import { formatLocation } from '@berth/runtime/problem/source-location';
import type { SourceObject } from '@berth/kube/model/source-object';

/** If more objects of a kind must be read, one list reads them all. */
const MAX_SINGLE_READS = 20;

/**
 * The objects on the hub that a sync is about to write and has not listed: they are no members of the source. Whether
 * they were there before decides what happens to them when they leave Git.
 */
export class ExistingObjects {
  readonly #api: KubeApi;
  readonly #listed = new Map<string, ReadonlyMap<string, KubeObject>>();

  constructor(api: KubeApi) {
    this.#api = api;
  }

  /** Lists the kinds of which many objects will be read. */
  async prepare(objects: readonly KubeObject[]): Promise<void> {
    const kinds = [...groupBy(objects, keyOf)].filter(([, same]) => same.length > MAX_SINGLE_READS);
    await Promise.all(kinds.map(([key, [first]]) => this.#list(key, first as KubeObject)));
  }

  /** @param object with the namespace that it has on the hub */
  async read(kind: KindInfo, object: KubeObject): Promise<KubeObject | undefined> {
    const listed = this.#listed.get(keyOf(object));
    return listed === undefined ? readOne(this.#api, kind, object) : listed.get(identityOf(object));
  }

  async #list(key: string, { apiVersion, kind }: KubeObject): Promise<void> {
    try {
      const info = await this.#api.resolve(apiVersion, kind);
      const items = info === undefined ? [] : (await this.#api.list(info)).items;
      this.#listed.set(key, new Map(items.map((item) => [identityOf(item), item])));
    } catch (error) {
      // Then each object is read by itself, and names the problem.
      if (!(error instanceof BerthError)) throw error;
    }
  }
}

function keyOf({ apiVersion, kind }: KubeObject): string {
  return `${apiVersion} ${kind}`;
}

/** Reads an object by a list, so that a source needs no additional right; undefined if the hub does not have it. */
export async function readOne(
  api: KubeApi,
  kind: KindInfo,
  { metadata }: Pick<KubeObject, 'metadata'>,
): Promise<KubeObject | undefined> {
  const { items } = await api.list(kind, {
    namespace: metadata.namespace,
    fieldSelector: `metadata.name=${metadata.name}`,
  });
  return items[0];
}

/** The error code for an object whose kind the hub does not serve. */
export const NOT_SERVED = 'sync.kind';

/**
 * Resolves the resource of an object.
 * @throws TransientError `NOT_SERVED` while the hub does not serve it
 */
export async function requiredKind(api: KubeApi, object: KubeObject): Promise<KindInfo> {
  const info = await api.resolve(object.apiVersion, object.kind);
  if (info !== undefined) return info;
  throw new TransientError(`the hub does not serve ${object.apiVersion} ${object.kind}`, {
    code: NOT_SERVED,
    subject: formatRef(refOf(object)),
    hint: 'install its CustomResourceDefinition on the hub, or exclude the object from the source’s paths',
  });
}

/** The objects whose kind the hub does not serve, with their locations. */
export async function unservedAmong(
  api: KubeApi,
  sources: readonly Pick<SourceObject, 'object' | 'location'>[],
): Promise<readonly string[]> {
  const kinds = sources.map(({ object }) => api.resolve(object.apiVersion, object.kind));
  const infos = await Promise.all(kinds);
  return sources
    .filter((_source, at) => infos[at] === undefined)
    .map(({ object, location }) => `${formatRef(refOf(object))} (${formatLocation(location)})`);
}
