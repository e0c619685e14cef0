import { createIfAbsent } from '@berth/kube/create-if-absent';
import { apiVersionOf, LEASE } from '@berth/kube/model/kinds';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import { InputError } from '@berth/runtime/errors';

interface SharingProcessesOptions {
  readonly hub: KubeApi;
  /** The Lease in whose annotations the processes say that they live. */
  readonly key: ObjectKey;
  /** Unique for each start of a process. Its part after the last `_` is the name of an annotation. */
  readonly identity: string;
  /** A process that said nothing for this long, in milliseconds, does not count. */
  readonly lifetimeMs: number;
  readonly clock: MonotonicClock;
}

interface Heard {
  readonly text: string;
  /** On the monotonic clock of this process. */
  readonly atMs: number;
}

const PREFIX = 'process.berth.dev/';
/** A process that ended without a word is forgotten after so many lifetimes. */
const FORGOTTEN_AFTER = 10;
const OPTIONS = { fieldManager: 'berth' } as const;

/**
 * The processes that share the works: each counts up in an annotation of one Lease. Whether another one lives is seen by
 * changes, never by times that another clock wrote.
 */
export class SharingProcesses {
  readonly #options: SharingProcessesOptions;
  readonly #own: string;
  readonly #heard = new Map<string, Heard>();
  #count = 0;

  constructor(options: SharingProcessesOptions) {
    this.#options = options;
    this.#own = `${PREFIX}${options.identity.slice(options.identity.lastIndexOf('_') + 1)}`;
  }

  /**
   * Says that this process lives.
   * @returns how many processes live, this one included. One that is heard for the first time counts
   * @throws the errors of the hub
   */
  async renew(): Promise<number> {
    const { clock, lifetimeMs } = this.#options;
    const nowMs = clock.monotonicMs();
    const silentMs = (name: string): number => nowMs - (this.#heard.get(name)?.atMs ?? nowMs);
    const forgotten = [...this.#heard.keys()].filter((name) => silentMs(name) > FORGOTTEN_AFTER * lifetimeMs);
    this.#count += 1;
    const said = await this.#write({
      ...Object.fromEntries(forgotten.map((name) => [name, null])),
      [this.#own]: String(this.#count),
    });
    for (const name of this.#heard.keys()) if (!(name in said)) this.#heard.delete(name);
    for (const [name, text] of Object.entries(said))
      if (name.startsWith(PREFIX) && this.#heard.get(name)?.text !== text)
        this.#heard.set(name, { text, atMs: nowMs });
    return [...this.#heard.keys()].filter((name) => name === this.#own || silentMs(name) < lifetimeMs).length;
  }

  /** Says that this process ends. */
  async leave(): Promise<void> {
    await this.#write({ [this.#own]: null });
  }

  /** @returns the annotations after that */
  async #write(
    annotations: Readonly<Record<string, string | null>>,
  ): Promise<Readonly<Record<string, string>>> {
    const { hub, key } = this.#options;
    const patch = { metadata: { annotations } };
    try {
      return (await hub.mergePatch(LEASE, key, patch, OPTIONS)).metadata.annotations ?? {};
    } catch (error) {
      if (!(error instanceof InputError) || error.code !== 'kube.notfound') throw error;
      const lease: KubeObject = { apiVersion: apiVersionOf(LEASE), kind: LEASE.kind, metadata: { ...key } };
      await createIfAbsent(hub, LEASE, lease, OPTIONS);
      return (await hub.mergePatch(LEASE, key, patch, OPTIONS)).metadata.annotations ?? {};
    }
  }
}
