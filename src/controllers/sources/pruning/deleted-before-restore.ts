import type { KubeObject } from '../../../core/model/object-meta.ts';
import { objectIdentity, refOf } from '../../../core/model/object-ref.ts';

/**
 * The objects that a source deleted before its hub was restored from a backup. If the backup restores such an object,
 * deleting it again is not a new loss: Git removed it before, and the deletion was judged or released then. The object
 * is recognised by its uid, which only a backup preserves. An object that Git declares again is treated like any other.
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
   * The members that a backup restored and that the source does not want.
   * @param wanted returns the identities of the objects that the source declares; called only if needed
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
    const back = known.filter((object) => !identities.has(objectIdentity(refOf(object))));
    const isBack = new Set(back);
    for (const object of known) if (!isBack.has(object)) this.forget(object);
    return back;
  }

  /** Git declares the object again. */
  forget({ metadata: { uid = '' } }: KubeObject): void {
    this.#uids.delete(uid);
  }
}
