import type { ObjectCache } from '@berth/kube/cache/object-cache';
import type { Reflector } from '@berth/kube/cache/reflector';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { SleepingClock } from '@berth/runtime/clock/clock';
import type { AutoAcceptance } from '../../core/registration/acceptance/auto-acceptance.ts';
import type { RegistrationEvent } from '../../core/registration/registration-event.ts';
import type { ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';

export interface RegistrationOptions {
  readonly hub: KubeApi;
  /**
   * The cache of the same hub. It keeps only those leases, certificate requests and RBAC objects that carry the label
   * of a cluster.
   */
  readonly cache: ObjectCache;
  readonly autoAcceptance: AutoAcceptance;
  /**
   * The placements that Berth decides: those with its annotation, all, or none. A cluster that is being deleted keeps what runs
   * on it while one of them selects it. Default: none.
   */
  readonly decides?: 'own' | 'all' | 'none' | undefined;
  /** Why works of pulled Applications on the cluster must stay. Default: none do. */
  readonly holdsOfPull?: ((cluster: string) => readonly string[]) | undefined;
  readonly clock: SleepingClock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Awaited before each pass. Default: no wait. */
  readonly mayBegin?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly onEvent?: ((event: RegistrationEvent) => void) | undefined;
  readonly onError?: ((key: string, error: unknown) => void) | undefined;
}

/** One registration controller: the kinds that it reads, the events that it reacts to, and one pass over one key. */
export interface RegistrationController {
  readonly name: string;
  readonly reads: readonly Reflector[];
  /** Adds the keys of existing objects, and of objects that change. */
  follow(queue: WorkQueue): void;
  reconcile(key: string): Promise<ReconcileOutcome>;
  /** What users should know at the moment. Default: nothing. */
  warnings?(): readonly string[];
  /** Runs beside the passes until the signal aborts. */
  run?(signal: AbortSignal): Promise<void>;
}
