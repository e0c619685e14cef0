import type { KubeObject } from '@berth/kube/model/object-meta';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import type { Digest } from '../../../core/publish/approval/approval-code.ts';
import { isApplied } from '../../../core/sync/desired-object.ts';

/**
 * What the hub made of objects that it stores in another form than the one that was sent
 * (quantities, `stringData`), so that they are not sent again while they stay as they are. Most
 * objects are stored as sent, and nothing is kept of them.
 */
export class StoredForms {
  readonly #digest: Digest;
  readonly #known = new Map<string, string>();

  constructor(digest: Digest) {
    this.#digest = digest;
  }

  /** @param live the response to the object that was sent */
  note(id: string, sent: KubeObject, live: KubeObject): void {
    if (isApplied(sent, live)) this.#known.delete(id);
    else this.#known.set(id, this.#fingerprint(sent, live));
  }

  /** Whether the live object is what the hub made of the desired one. */
  has(id: string, desired: KubeObject, live: KubeObject): boolean {
    const known = this.#known.get(id);
    return known !== undefined && known === this.#fingerprint(desired, live);
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  #fingerprint(desired: KubeObject, live: KubeObject): string {
    const { status: _status, metadata, ...rest } = live;
    const { labels, annotations } = metadata;
    return this.#digest(canonicalJson([desired, rest, labels, annotations]));
  }
}
