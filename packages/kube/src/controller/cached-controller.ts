import type { ObjectCache } from '../cache/object-cache.ts';
import type { Reflector } from '../cache/reflector.ts';
import type { KindInfo } from '../model/kinds.ts';
import type { KubeApi } from '../model/kube-api.ts';
import type { SleepingClock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import type { ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';

export interface HubControllerOptions {
  readonly hub: KubeApi;
  /** The cache of the same hub. Of some kinds it keeps only those objects that the duties of the process need. */
  readonly cache: ObjectCache;
  readonly clock: SleepingClock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Awaited before each pass. Default: no wait. */
  readonly mayBegin?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly onError?: ((key: string, error: unknown) => void) | undefined;
  /** What prints the rights that the process needs, for users. */
  readonly rightsCommand?: string | undefined;
}

/** One controller of the hub: the kinds that it reads, the events that it reacts to, and one pass over one key. */
export interface HubController {
  readonly name: string;
  readonly reads: readonly Reflector[];
  /** Adds the keys of existing objects, and of objects that change. */
  follow(queue: WorkQueue): void;
  /** @param signal aborts when the process ends */
  reconcile(key: string, signal: AbortSignal): Promise<ReconcileOutcome>;
  /** What users should know at the moment. Default: nothing. */
  warnings?(): readonly string[];
  /** Runs beside the passes until the signal aborts. */
  run?(signal: AbortSignal): Promise<void>;
}

/** A controller that reads its kinds from the cache of the process. A subclass declares each kind as a field, with `read`. */
export abstract class CachedController<Options extends HubControllerOptions> implements HubController {
  abstract readonly name: string;
  readonly reads: Reflector[] = [];
  protected readonly options: Options;

  constructor(options: Options) {
    this.options = options;
  }

  abstract follow(queue: WorkQueue): void;

  abstract reconcile(key: string, signal: AbortSignal): Promise<ReconcileOutcome>;

  /** The objects of a kind in the cache. No pass begins before they have been listed. */
  protected read(kind: KindInfo): Reflector {
    const reflector = this.options.cache.of(kind);
    this.reads.push(reflector);
    return reflector;
  }
}
