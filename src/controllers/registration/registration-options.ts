import type { ObjectCache } from '../../adapters/kube/cache/object-cache.ts';
import type { Reflector } from '../../adapters/kube/cache/reflector.ts';
import type { KubeApi, Logger, MonotonicClock } from '../../core/ports.ts';
import type { AutoAcceptance } from '../../core/registration/acceptance/auto-acceptance.ts';
import type { RegistrationEvent } from '../../core/registration/registration-event.ts';
import type { ReconcileOutcome } from '../../runtime/reconciler.ts';
import type { WorkQueue } from '../../runtime/work-queue.ts';

export interface RegistrationOptions {
  readonly hub: KubeApi;
  /** Of the same hub; keeps of leases, certificate requests and RBAC objects those with the label of a cluster. */
  readonly cache: ObjectCache;
  readonly autoAcceptance: AutoAcceptance;
  readonly clock: MonotonicClock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Awaited before each pass. Default: no wait. */
  readonly mayBegin?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly onEvent?: ((event: RegistrationEvent) => void) | undefined;
  readonly onError?: ((key: string, error: unknown) => void) | undefined;
}

/** One controller of registration: what it reads, what makes it look, and one pass over one key. */
export interface RegistrationController {
  readonly name: string;
  readonly reads: readonly Reflector[];
  /** Adds the keys of what is there, and those of what changes. */
  follow(queue: WorkQueue): void;
  reconcile(key: string): Promise<ReconcileOutcome>;
  /** Beside the passes, until the signal aborts. */
  run?(signal: AbortSignal): Promise<void>;
}

/** Field manager of everything that registration writes. */
export const REGISTRATION_MANAGER = 'berth-registration';
