import type { KindInfo } from './model/kinds.ts';
import { groupVersionOf } from './model/object-ref.ts';
import type { Clock } from '@berth/runtime/clock/clock';

/** The fields of meta/v1 APIResourceList that are read here. */
interface ApiResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

/** How long a found kind is cached. Kinds are added (a CRD is installed) much more often than they are removed or changed. */
const FOUND_FOR_MS = 600_000;
const MISSING_FOR_MS = 1_000;

/** Finds resources by kind with one request for each group and version, whose response is cached for a while. */
export class Discovery {
  readonly #read: (path: string) => Promise<unknown>;
  readonly #clock: Clock;
  readonly #lists = new Map<string, { readonly atMs: number; readonly list: Promise<readonly KindInfo[]> }>();

  /** @param read GETs a path; undefined for 404 */
  constructor(read: (path: string) => Promise<unknown>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  async resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined> {
    const cached = this.#lists.get(apiVersion);
    if (cached !== undefined) {
      const found = (await cached.list).find((info) => info.kind === kind);
      const age = Math.abs(this.#clock.now() - cached.atMs);
      if (age < (found === undefined ? MISSING_FOR_MS : FOUND_FOR_MS)) return found;
    }
    const list = this.#load(apiVersion);
    this.#lists.set(apiVersion, { atMs: this.#clock.now(), list });
    // The error of a failed read is not cached.
    list.catch(() => this.#lists.delete(apiVersion));
    return (await list).find((info) => info.kind === kind);
  }

  async #load(apiVersion: string): Promise<readonly KindInfo[]> {
    const { group, version } = groupVersionOf(apiVersion);
    const path =
      group === ''
        ? `/api/${encodeURIComponent(version)}`
        : `/apis/${encodeURIComponent(group)}/${encodeURIComponent(version)}`;
    const list = (await this.#read(path)) as ApiResourceList | undefined;
    return (list?.resources ?? [])
      .filter((resource) => !resource.name.includes('/'))
      .map(({ name, kind, namespaced }) => ({ group, version, kind, plural: name, namespaced }));
  }
}
