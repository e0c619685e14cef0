import type { KubeObject } from '@berth/kube/model/object-meta';
import { objectIdentity, refOf } from '@berth/kube/model/object-ref';

/**
 * The objects that a source deleted before its hub was restored from a backup. If the backup
 * restores one, deleting it again is not a new loss, because the deletion was judged or released
 * before. An object is identified by its uid, which only a backup preserves. An object that Git
 * declares again is treated as usual.
 */
export class DeletedBeforeRestore {
  readonly #read: () => Promise<readonly string[]>;
  #uids = new Set<string>();
  #isRestored = false;

  /** @param read returns the recorded uids of the objects that the source deleted */
  constructor(read: () => Promise<readonly string[]> = async () => []) {
    this.#read = read;
  }

  hubRestored(): void {
    this.#isRestored = true;
  }

  /**
   * The members that a restore of the hub recreated and that the source does not declare.
   * @param wanted identities of the objects of the source in Git; computed only if needed
   */
  async among(
    members: Iterable<KubeObject>,
    wanted: () => ReadonlySet<string>,
  ): Promise<readonly KubeObject[]> {
    if (this.#isRestored) {
      this.#uids = new Set(await this.#read());
      this.#isRestored = false;
    }
    if (this.#uids.size === 0) return [];
    const identities = wanted();
    const known = [...members].filter(({ metadata: { uid = '' } }) => this.#uids.has(uid));
    const restored = known.filter((object) => !identities.has(objectIdentity(refOf(object))));
    const restoredSet = new Set(restored);
    for (const object of known) if (!restoredSet.has(object)) this.forget(object);
    return restored;
  }

  /** Called when Git declares the object. */
  forget({ metadata: { uid = '' } }: KubeObject): void {
    this.#uids.delete(uid);
  }
}
