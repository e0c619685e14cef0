import type { Reflector } from '@berth/kube/cache/reflector';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import type { RegistrationController, RegistrationOptions } from './registration-options.ts';

/**
 * A registration controller that reads its kinds from the cache of the process. A subclass declares
 * each kind as a field, with `read`.
 */
export abstract class CachedController implements RegistrationController {
  abstract readonly name: string;
  readonly reads: Reflector[] = [];
  protected readonly options: RegistrationOptions;

  constructor(options: RegistrationOptions) {
    this.options = options;
  }

  abstract follow(queue: WorkQueue): void;

  abstract reconcile(key: string): Promise<ReconcileOutcome>;

  /** The objects of a kind in the cache. No pass begins before they have been listed. */
  protected read(kind: KindInfo): Reflector {
    const reflector = this.options.cache.of(kind);
    this.reads.push(reflector);
    return reflector;
  }
}
