import { ADDON_MANAGER } from '@berth/addon/manager/addon-controller';
import { eventAbout } from '@berth/kube/model/event';
import { CLUSTER_MANAGEMENT_ADDON, EVENT } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { ConflictError, InputError } from '@berth/runtime/errors';
import {
  type AddOnHold,
  heldAnnotations,
  heldRemoval,
  releasedAnnotations,
  type ReleasedRemoval,
} from '../../core/addon/install/held-removal.ts';
import { RENEWAL_MS, renewEvent } from '../events/lasting-event.ts';
import type { AddOnManagerOptions } from './addon-inventory.ts';

/** A hold of this process. */
interface Kept extends AddOnHold {
  /** When its Event was written or renewed, or this process began to know of it. */
  readonly reportedAtMs: number;
}

type Options = Pick<AddOnManagerOptions, 'hub' | 'clock' | 'log'>;

/**
 * The add-ons that clusters keep because their removal is held. The ClusterManagementAddOn says so in its annotations, which plans and
 * the next process read, and an Event for people who read `kubectl describe`.
 */
export class HeldRemovals {
  readonly #options: Options;
  readonly #held = new Map<string, Kept>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** What is held, as text for users. */
  messages(): readonly string[] {
    return [...this.#held.values()].map(({ message }) => message);
  }

  /** @returns whether nobody knew of it */
  async note(object: KubeObject, { code, message }: Pick<AddOnHold, 'code' | 'message'>): Promise<boolean> {
    const nowMs = this.#options.clock.now();
    const { name } = object.metadata;
    const before = this.#held.get(name) ?? heldRemoval(object);
    const isKnown = before?.code === code;
    const sinceMs = isKnown ? Math.min(before.sinceMs, nowMs) : nowMs;
    const reportedAtMs = isKnown ? (this.#held.get(name)?.reportedAtMs ?? nowMs) : nowMs;
    const held = { code, message, sinceMs };
    this.#held.set(name, { ...held, reportedAtMs });
    await this.#annotate(object, held);
    if (isKnown && nowMs - reportedAtMs < RENEWAL_MS) return false;
    this.#held.set(name, { ...held, reportedAtMs: nowMs });
    await this.#report(object, held, isKnown);
    return !isKnown;
  }

  /** Nothing of the add-on is held. @param released why its removal is not held any more */
  async clear(object: KubeObject, released?: ReleasedRemoval): Promise<void> {
    this.#held.delete(object.metadata.name);
    if (heldRemoval(object) !== undefined || released !== undefined)
      await this.#annotate(object, undefined, released);
  }

  /** The add-on is gone. */
  forget(name: string): void {
    this.#held.delete(name);
  }

  /** Best effort: the hold does not depend on it. */
  async #annotate(
    { metadata }: KubeObject,
    held: AddOnHold | undefined,
    released?: ReleasedRemoval,
  ): Promise<void> {
    const since = formatRfc3339(instantFromEpochMs(held?.sinceMs ?? 0));
    const annotations = { ...heldAnnotations(held && { ...held, since }), ...releasedAnnotations(released) };
    const isSame = Object.entries(annotations).every(
      ([key, value]) => (metadata.annotations?.[key] ?? null) === value,
    );
    if (isSame) return;
    const { name, uid } = metadata;
    await this.#try('a hold was not written to its add-on', name, () =>
      this.#options.hub.mergePatch(
        CLUSTER_MANAGEMENT_ADDON,
        { namespace: '', name },
        { metadata: { uid, annotations } },
        { fieldManager: ADDON_MANAGER, metadataOnly: true },
      ),
    );
  }

  async #report(
    { metadata }: KubeObject,
    { code, message, sinceMs }: AddOnHold,
    isKnown: boolean,
  ): Promise<void> {
    const { hub, clock } = this.#options;
    const { name, uid = '' } = metadata;
    const event = eventAbout(
      { kind: CLUSTER_MANAGEMENT_ADDON, namespace: '', name, uid },
      { type: 'Warning', reason: 'Held', action: 'Remove', note: message.slice(0, 1_000) },
      { controller: ADDON_MANAGER, instance: ADDON_MANAGER, nowMs: sinceMs, suffix: `held-${code}` },
    );
    await this.#try('an Event was not written', name, async () => {
      if (isKnown) await renewEvent(hub, event, { sinceMs, nowMs: clock.now() });
      else await hub.create(EVENT, event, { metadataOnly: true });
    });
  }

  async #try(what: string, addon: string, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      // It is there already, or the object has changed and is looked at again.
      if (error instanceof ConflictError) return;
      this.#options.log[error instanceof InputError ? 'warn' : 'debug'](what, { addon, error });
    }
  }
}
