import { TransientError } from '@berth/runtime/errors';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, refOf } from '@berth/kube/model/object-ref';
import { APPLY_SET_PART_OF_LABEL } from '../../../core/sync/apply-set.ts';
import { possibleIdentities } from '../../../core/sync/plan-prune.ts';
import type { ApplySetRegistry, SetMembers } from './apply-set-registry.ts';
import type { SourceDeclarations } from '../progress/source-declarations.ts';

export interface MemberOwnersOptions {
  readonly source: string;
  /** The id of the ApplySet. */
  readonly id: string;
  /** Take over objects that belong to others. */
  readonly force: boolean;
  readonly declarations: Pick<
    SourceDeclarations,
    'locationOf' | 'ownerOf' | 'hasGivenUp' | 'precedingSource'
  >;
  readonly registry: Pick<ApplySetRegistry, 'sourceOf'>;
}

/**
 * Knows which objects on the hub belong to this source, and which to others. All sources write as the same field
 * manager, so the server alone would let two of them overwrite the same object repeatedly.
 */
export class MemberOwners {
  readonly #options: MemberOwnersOptions;
  /** Objects of other ApplySets at the last read of the hub: identity to id of the set. */
  #others = new Map<string, string>();
  /** Identities of the objects of this source on the hub, at the last read and applied since. */
  #owned = new Set<string>();

  constructor(options: MemberOwnersOptions) {
    this.#options = options;
  }

  /** Records the list of all members. */
  listed({ own, others }: Pick<SetMembers, 'own' | 'others'>): void {
    this.#others = new Map(others);
    this.#owned = new Set(own.keys());
  }

  /** Whether the source has the object on the hub. */
  owns(identity: string): boolean {
    return this.#owned.has(identity);
  }

  /** Whether no source has the object on the hub. */
  isNew(object: KubeObject): boolean {
    return !possibleIdentities(object).some((id) => this.#owned.has(id) || this.#others.has(id));
  }

  /** Records that the source is about to write the object. */
  take(identity: string): void {
    this.#owned.add(identity);
  }

  /** Records that the object is deleted. */
  drop(identity: string): void {
    this.#owned.delete(identity);
  }

  /**
   * Checks the owner again before a write. Another controller may have taken or created the object since the hub was
   * listed, and the server would allow both, because it sees one field manager.
   * @param id the identity of the object
   * @param live the object as it was just read; undefined if the hub does not have it
   */
  recheck(id: string, live: KubeObject | undefined): void {
    if (this.#options.force) return;
    const set = live?.metadata.labels?.[APPLY_SET_PART_OF_LABEL];
    if (set === undefined || set === this.#options.id) this.#others.delete(id);
    else {
      this.#others.set(id, set);
      this.#owned.delete(id);
    }
  }

  /** @throws TransientError when the object belongs to another source or ApplySet */
  async requireFree(id: string, object: KubeObject): Promise<void> {
    const { declarations, source } = this.#options;
    if (this.#owned.has(id)) return;
    const owner = await this.#ownerOf(id);
    if (owner === undefined) return;
    const subject = formatRef(refOf(object));
    const at = (name: string): string => {
      const place = declarations.locationOf(name, id);
      return place === undefined ? '' : ` (${place})`;
    };
    const named =
      'source' in owner ? `source ${owner.source}${at(owner.source)}` : `the ApplySet ${owner.set}`;
    throw new TransientError(
      `belongs to ${named} and is also declared in source ${source}${at(source)}, but only one source may declare it: remove it from one of the two, ` +
        'or set force for this source',
      { code: 'sync.owned', subject },
    );
  }

  /**
   * The owner of an object that is not in this source: as the hub shows it, or the other source of
   * this controller that declares it.
   */
  async #ownerOf(id: string): Promise<{ readonly source: string } | { readonly set: string } | undefined> {
    const { declarations, source, force, registry } = this.#options;
    const set = force ? undefined : this.#others.get(id);
    const named = set === undefined ? undefined : await registry.sourceOf(set);
    if (set !== undefined && named === undefined) return { set };
    const owners = [named, force ? undefined : declarations.ownerOf(id, source)];
    const owner = owners.find((name) => name !== undefined && !declarations.hasGivenUp(name, id));
    const rival = owner ?? declarations.precedingSource(id, source);
    return rival === undefined ? undefined : { source: rival };
  }
}
