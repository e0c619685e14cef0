import type { ObjectCache, PartDefinition } from '@berth/kube/cache/object-cache';
import type { Reflector } from '@berth/kube/cache/reflector';
import { type KindInfo, typeKeyOf } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import { APPLY_SET_PART_OF_LABEL, memberHead } from '../../core/sync/apply-set.ts';

export interface FollowedMembersOptions {
  readonly cache: Pick<ObjectCache, 'whole' | 'part' | 'forget'>;
  readonly clock: Pick<Clock, 'now'>;
  /**
   * Asks the hub whether it was restored or replaced. Resolves to the number of its history.
   * @throws TransientError when the hub does not respond
   */
  readonly checkHub: () => Promise<number>;
}

/** The members of all sources, of kinds that the cache does not follow for another reader. */
export const MEMBERS: PartDefinition = {
  selection: { labelSelector: APPLY_SET_PART_OF_LABEL },
  reduce: memberHead,
};

/** A kind that may not be watched is tried again after this time. */
const REFUSED_MS = 600_000;
/** Further kinds are listed for each plan. */
const MAX_KINDS = 50;

/**
 * The members of sources on the hub, for plans, which would otherwise list them each time. They are kept by watches: a
 * kind is followed from the first plan that asks for it. Only their heads are kept, so that large objects cost no
 * memory. What a deletion follows from is not read here, but from the hub.
 */
export class FollowedMembers {
  readonly #options: FollowedMembersOptions;
  readonly #kinds = new Map<string, Heads>();
  /** When a kind was refused, in milliseconds since the epoch. */
  readonly #refusedAt = new Map<string, number>();

  constructor(options: FollowedMembersOptions) {
    this.#options = options;
  }

  /**
   * The heads of all members of a kind.
   * @returns undefined if it is not sure that they are current: before the first list, while the watch is closed or
   *   silent, when the hub was restored, does not respond, or does not allow the watch. List them then
   */
  async headsOf(kind: KindInfo): Promise<readonly KubeObject[] | undefined> {
    const heads = this.#followed(kind);
    if (heads === undefined) return undefined;
    const { reflector } = heads;
    if (reflector.failure !== undefined) this.#refuse(kind, heads);
    if (!reflector.isCurrent) return undefined;
    const history = await this.#options.checkHub().catch(() => undefined);
    return reflector.isCurrent && reflector.position.history === history ? heads.list() : undefined;
  }

  #followed(kind: KindInfo): Heads | undefined {
    const { cache, clock } = this.#options;
    const id = typeKeyOf(kind);
    const known = this.#kinds.get(id);
    const whole = cache.whole(kind);
    // Another reader may have asked for the kind since.
    if (known !== undefined && (whole === undefined || known.reflector === whole)) return known;
    if (known !== undefined) cache.forget(kind, MEMBERS);
    if (clock.now() - (this.#refusedAt.get(id) ?? -Infinity) < REFUSED_MS) return undefined;
    if (known === undefined && this.#kinds.size >= MAX_KINDS) return undefined;
    const heads = new Heads(
      whole ?? cache.part(kind, MEMBERS),
      whole === undefined ? (it) => it : memberHead,
    );
    this.#kinds.set(id, heads);
    return heads;
  }

  /** Without this, a kind that may be listed and not watched would be listed again and again. */
  #refuse(kind: KindInfo, { reflector }: Heads): void {
    const { cache, clock } = this.#options;
    if (cache.whole(kind) === reflector) return;
    cache.forget(kind, MEMBERS);
    this.#kinds.delete(typeKeyOf(kind));
    this.#refusedAt.set(typeKeyOf(kind), clock.now());
  }
}

/** The heads of the members in a store. */
class Heads {
  readonly reflector: Reflector;
  readonly #reduce: (object: KubeObject) => KubeObject;
  #revision: number | undefined;
  #list: readonly KubeObject[] = [];
  /** Of each object the same head every time. */
  readonly #heads = new WeakMap<KubeObject, KubeObject>();

  constructor(reflector: Reflector, reduce: (object: KubeObject) => KubeObject) {
    this.reflector = reflector;
    this.#reduce = reduce;
  }

  /** The same list while nothing changes. */
  list(): readonly KubeObject[] {
    const { store } = this.reflector;
    if (this.#revision !== store.revision) {
      const members = store.list().filter(({ metadata }) => metadata.labels?.[APPLY_SET_PART_OF_LABEL]);
      this.#list = members.map((member) => this.#headOf(member));
      this.#revision = store.revision;
    }
    return this.#list;
  }

  #headOf(object: KubeObject): KubeObject {
    let head = this.#heads.get(object);
    if (head === undefined) this.#heads.set(object, (head = this.#reduce(object)));
    return head;
  }
}
