import type pLimit from 'p-limit';
import { BerthError, InputError } from '@berth/runtime/errors';
import { CONFIG_MAP, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { identityOf } from '@berth/kube/model/object-ref';
import type { KubeApi, ObjectList } from '@berth/kube/model/kube-api';
import {
  HELD_MESSAGE_ANNOTATION,
  HELD_CODE_ANNOTATION,
} from '../../../core/publish/approval/publish-annotations.ts';
import {
  APPLY_SET_ID_LABEL,
  APPLY_SET_PART_OF_LABEL,
  applySetParent,
  type ApplySetParent,
  type MemberKind,
  memberNamespaces,
  sourceOfParent,
} from '../../../core/sync/apply-set.ts';
import { containsAll } from '../../../core/sync/desired-object.ts';
import { resourceName, type UnlistedKind } from './sync-problem.ts';

/** The objects on the hub of the kinds of a source, by identity. */
export interface SetMembers {
  readonly own: Map<string, KubeObject>;
  /** Members of other ApplySets, with the id of their set. */
  readonly others: ReadonlyMap<string, string>;
  /** Kinds that could not be listed. */
  readonly unlisted: readonly UnlistedKind[];
}

/** An ApplySet on the hub: its parent and its members. */
export class ApplySetRegistry {
  readonly #api: KubeApi;
  readonly #parent: ApplySetParent;
  readonly #id: string;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #membersOf: (kind: KindInfo) => Promise<readonly KubeObject[]>;
  /** The parent as last read or written. */
  #known: KubeObject | undefined;

  constructor(parts: {
    readonly api: KubeApi;
    readonly parent: ApplySetParent;
    readonly id: string;
    readonly limit: ReturnType<typeof pLimit>;
    /** The members of all sets, of one kind. Absent: they are listed on the hub. */
    readonly listKind?: (kind: KindInfo) => Promise<readonly KubeObject[]>;
  }) {
    this.#api = parts.api;
    this.#parent = parts.parent;
    this.#id = parts.id;
    this.#limit = parts.limit;
    this.#membersOf =
      parts.listKind ??
      (async (kind) => (await this.#api.list(kind, { labelSelector: APPLY_SET_PART_OF_LABEL })).items);
  }

  async readParent(): Promise<KubeObject | undefined> {
    this.#known = await this.#api.get(CONFIG_MAP, this.#parent);
    return this.#known;
  }

  /**
   * Writes the kinds and namespaces of the members to the parent, if they changed. Kinds that could
   * not be listed are kept, so that their members are found again. The namespace of the parent must
   * exist.
   */
  async writeParent(
    members: readonly Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>[],
    unlisted: readonly UnlistedKind[],
  ): Promise<void> {
    const namespaces = unlisted.length === 0 ? [] : ['', ...memberNamespaces(this.#known)];
    const unknown = unlisted.flatMap(({ apiVersion, kind }) =>
      namespaces.map((namespace) => ({ apiVersion, kind, metadata: { name: '', namespace } })),
    );
    const parent = this.#withHeld(applySetParent(this.#parent, this.#id, [...members, ...unknown]));
    if (this.#known !== undefined && containsAll(this.#known, parent)) return;
    this.#known = await this.#api.apply(CONFIG_MAP, parent, { fieldManager: 'berth', force: true });
  }

  /** Keeps the annotations about held deletions; a new parent has empty ones. */
  #withHeld(parent: KubeObject): KubeObject {
    const known = this.#known?.metadata.annotations;
    const code = this.#known === undefined ? '' : known?.[HELD_CODE_ANNOTATION];
    if (code === undefined) return parent;
    const message = known?.[HELD_MESSAGE_ANNOTATION] ?? '';
    const { metadata } = parent;
    const annotations = {
      ...metadata.annotations,
      [HELD_CODE_ANNOTATION]: code,
      [HELD_MESSAGE_ANNOTATION]: message,
    };
    return { ...parent, metadata: { ...metadata, annotations } };
  }

  /** Sets annotations of the parent that differ; an absent annotation equals `''`. */
  async annotate(annotations: Readonly<Record<string, string>>): Promise<void> {
    const known = this.#known?.metadata.annotations ?? {};
    if (Object.entries(annotations).every(([name, text]) => (known[name] ?? '') === text)) return;
    this.#known = await this.#api.mergePatch(
      CONFIG_MAP,
      this.#parent,
      { metadata: { annotations } },
      { fieldManager: 'berth' },
    );
  }

  /**
   * Lists each kind separately, so that a failure of one does not affect the others. It reads from
   * the hub, not from the cache of the process: deletions are derived from this list, which
   * contains all fields and all kinds of a source.
   * @throws the error of the first kind if no kind can be listed
   */
  async listMembers(kinds: readonly MemberKind[]): Promise<SetMembers> {
    const own = new Map<string, KubeObject>();
    const others = new Map<string, string>();
    const lists = await Promise.all(kinds.map((kind) => this.#limit(() => this.#listKind(kind))));
    const unlisted = lists.filter((list) => 'error' in list);
    const [broken] = unlisted.filter(({ error }) => !(error instanceof InputError));
    if (broken !== undefined && unlisted.length === kinds.length) throw broken.error;
    for (const object of lists.flatMap((list) => ('error' in list ? [] : list.items))) {
      const set = object.metadata.labels?.[APPLY_SET_PART_OF_LABEL] ?? '';
      if (set === this.#id) own.set(identityOf(object), object);
      else others.set(identityOf(object), set);
    }
    return { own, others, unlisted };
  }

  /** The members of every set, because an object can belong to only one. */
  async #listKind(member: MemberKind): Promise<Pick<ObjectList, 'items'> | UnlistedKind> {
    let info: KindInfo | undefined;
    try {
      info = await this.#api.resolve(member.apiVersion, member.kind);
      // A kind that the hub does not serve has no members; applying one reports it.
      if (info === undefined) return { items: [] };
      return { items: await this.#membersOf(info) };
    } catch (error) {
      if (!(error instanceof BerthError)) throw error;
      return { ...member, resource: resourceName(member, info), error };
    }
  }

  /** The source that a set belongs to, if its parent is in the same namespace as this one's. */
  async sourceOf(id: string): Promise<string | undefined> {
    const { namespace } = this.#parent;
    const labelSelector = `${APPLY_SET_ID_LABEL}=${id}`;
    const [found] = (await this.#api.list(CONFIG_MAP, { namespace, labelSelector })).items;
    return found && sourceOfParent(found.metadata);
  }
}
