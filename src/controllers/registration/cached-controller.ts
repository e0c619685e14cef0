import type { Reflector } from '../../adapters/kube/cache/reflector.ts';
import type { KindInfo } from '../../core/model/kinds.ts';
import type { ReconcileOutcome } from '../../runtime/reconciler.ts';
import type { WorkQueue } from '../../runtime/work-queue.ts';
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
