import type { KubeObject } from '../../../core/model/object-meta.ts';
import { objectIdentity, refOf } from '../../../core/model/object-ref.ts';

/**
 * The objects that a source deleted before its hub was restored from a backup. Where the backup brings one back, its deletion is no new
 * loss: Git said so before, and the deletion was judged or released then. An object is recognised by its uid, which a backup keeps and
 * nothing else does. One that Git holds again is an object like any other.
 */
export class DeletedBeforeRestore {
  readonly #read: () => Promise<readonly string[]>;
  #uids = new Set<string>();
  #isRestored = false;

  /** @param read the uids of the objects that the source deleted, as they were recorded */
  constructor(read: () => Promise<readonly string[]> = async () => []) {
    this.#read = read;
  }

  hubRestored(): void {
    this.#isRestored = true;
  }

  /**
   * Those members that are there again, and that the source does not want.
   * @param wanted identities of what the source holds in Git; asked only where it matters
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

  /** Git holds the object. */
  forget({ metadata: { uid = '' } }: KubeObject): void {
    this.#uids.delete(uid);
  }
}
