import type pLimit from 'p-limit';
import { CONFIG_MAP } from '../../core/model/kinds.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import { refOf } from '../../core/model/object-ref.ts';
import type { KubeApi } from '../../core/ports.ts';
import {
  APPLY_SET_ID_LABEL,
  APPLY_SET_PART_OF_LABEL,
  applySetParent,
  type ApplySetParent,
  type MemberKind,
} from '../../core/sync/apply-set.ts';
import { containsAll } from '../../core/sync/desired-object.ts';
import { identityOf } from '../../core/sync/plan-prune.ts';

/** What stands on the hub of the kinds that a source has, by identity. */
export interface SetMembers {
  readonly own: ReadonlyMap<string, KubeObject>;
  /** Members of other ApplySets, with the id of their set. */
  readonly others: ReadonlyMap<string, string>;
}

/** An ApplySet on the hub: its parent and its members. */
export class ApplySetRegistry {
  readonly #api: KubeApi;
  readonly #parent: ApplySetParent;
  readonly #id: string;
  readonly #limit: ReturnType<typeof pLimit>;

  constructor(parts: {
    readonly api: KubeApi;
    readonly parent: ApplySetParent;
    readonly id: string;
    readonly limit: ReturnType<typeof pLimit>;
  }) {
    this.#api = parts.api;
    this.#parent = parts.parent;
    this.#id = parts.id;
    this.#limit = parts.limit;
  }

  readParent(): Promise<KubeObject | undefined> {
    return this.#api.get(CONFIG_MAP, this.#parent);
  }

  /** Names kinds and namespaces of the members on the parent, when that changes it. Its namespace has to be there. */
  async writeParent(before: KubeObject | undefined, members: readonly KubeObject[]): Promise<void> {
    const parent = applySetParent(this.#parent, this.#id, members);
    if (before !== undefined && containsAll(before, parent)) return;
    await this.#api.apply(CONFIG_MAP, parent, { fieldManager: 'berth', force: true });
  }

  async listMembers(kinds: readonly MemberKind[]): Promise<SetMembers> {
    const own = new Map<string, KubeObject>();
    const others = new Map<string, string>();
    const list = async ({ apiVersion, kind }: MemberKind): Promise<void> => {
      const info = await this.#api.resolve(apiVersion, kind);
      // A kind that the hub does not serve has no members; applying one says so.
      if (info === undefined) return;
      // Those of every set: an object can be in one only.
      for (const object of (await this.#api.list(info, { labelSelector: APPLY_SET_PART_OF_LABEL })).items) {
        const set = object.metadata.labels?.[APPLY_SET_PART_OF_LABEL] ?? '';
        if (set === this.#id) own.set(identityOf(refOf(object)), object);
        else others.set(identityOf(refOf(object)), set);
      }
    };
    await Promise.all(kinds.map((kind) => this.#limit(() => list(kind))));
    return { own, others };
  }

  /** `source first` for a set whose parent stands beside ours, else its id. */
  async describeSet(id: string): Promise<string> {
    const { namespace } = this.#parent;
    const labelSelector = `${APPLY_SET_ID_LABEL}=${id}`;
    const [found] = (await this.#api.list(CONFIG_MAP, { namespace, labelSelector })).items;
    const source = /^berth-(.+)$/.exec(found?.metadata.name ?? '')?.[1];
    return source === undefined ? `the ApplySet ${id}` : `source ${source}`;
  }
}
