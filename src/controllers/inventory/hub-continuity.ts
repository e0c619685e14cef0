import { mayBeAllowedLater } from '../../adapters/kube/transport/kube-errors.ts';
import type { ReflectorPosition } from '../../adapters/kube/cache/reflector.ts';
import { NAMESPACE } from '../../core/model/kinds.ts';
import type { KubeApi } from '../../core/ports.ts';
import {
  withNewestVersion,
  type HubBreak,
  detectHubBreak,
  type HubPosition,
} from '../../core/sync/hub-position.ts';

export interface HubContinuityOptions {
  readonly api: Pick<KubeApi, 'list'>;
  /** Outlives the process. */
  readonly memory: {
    get(key: string): HubPosition | undefined;
    set(key: string, position: HubPosition): void;
  };
  /** What the watches have reached. */
  readonly positions: () => readonly ReflectorPosition[];
  /** Called before any new state of the hub is read. */
  readonly onBreak: (how: HubBreak, now: HubPosition) => void;
}

const SYSTEM_NAMESPACE = 'kube-system';

/**
 * Recognises a hub that was restored from a backup or replaced by another one: the uid of kube-system is another one, or the newest
 * resource version is older than one that was seen. A backup that was restored and then written to until it had passed what was
 * seen is not recognised.
 */
export class HubContinuity {
  readonly #options: HubContinuityOptions;
  #history = 0;
  #wasRestored = false;
  #looking: Promise<void> | undefined;

  constructor(options: HubContinuityOptions) {
    this.#options = options;
  }

  /** Whether this process found the hub restored from a backup. */
  get wasRestored(): boolean {
    return this.#wasRestored;
  }

  /**
   * To be awaited before a watch is opened: a watch breaks when its hub is restored.
   * @returns the number of breaks that were found; after a change of it nothing that was read before counts
   * @throws TransientError when the hub does not answer
   */
  async look(): Promise<number> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    await this.#looking;
    return this.#history;
  }

  /** Remembers how far the watches have got, for the next start. */
  note(): void {
    const known = this.#known();
    if (known !== undefined) this.#options.memory.set(SYSTEM_NAMESPACE, known);
  }

  async #look(): Promise<void> {
    const { memory, onBreak } = this.#options;
    // Before the request: the watches may get beyond its answer while it is under way.
    const before = this.#known();
    const now = await this.#position();
    if (now === undefined) return;
    const how = detectHubBreak(before, now);
    memory.set(SYSTEM_NAMESPACE, now);
    if (how === undefined) return;
    this.#history += 1;
    this.#wasRestored ||= how === 'restored';
    onBreak(how, now);
  }

  #known(): HubPosition | undefined {
    const { memory, positions } = this.#options;
    const noted = memory.get(SYSTEM_NAMESPACE);
    // A watch that was not opened again since a break still shows the version of the history before it.
    const reached = positions().filter(({ history }) => history === this.#history);
    return (
      noted &&
      withNewestVersion(
        noted,
        reached.map(({ resourceVersion }) => resourceVersion),
      )
    );
  }

  /** Undefined: the hub does not say. */
  async #position(): Promise<HubPosition | undefined> {
    try {
      const fieldSelector = `metadata.name=${SYSTEM_NAMESPACE}`;
      const { items, resourceVersion } = await this.#options.api.list(NAMESPACE, { fieldSelector });
      const uid = items[0]?.metadata.uid;
      return uid === undefined ? undefined : { uid, resourceVersion };
    } catch (error) {
      if (mayBeAllowedLater(error)) return undefined;
      throw error;
    }
  }
}
