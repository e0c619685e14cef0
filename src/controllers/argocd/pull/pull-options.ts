import type { ObjectCache } from '@berth/kube/cache/object-cache';
import type { PulledWorkWritten, PullHeld } from '../../../core/argocd/pull/pull-events.ts';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { Digest } from '../../../core/publish/approval/approval-code.ts';
import type { RemovalBudget, RemovalMemory } from '../../../core/publish/judge/removal-budget.ts';

export interface PullOptions {
  readonly hub: KubeApi;
  /** The cache of the same hub. It keeps the specs of works that carry Applications. The caller starts it. */
  readonly cache: ObjectCache;
  readonly clock: Clock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly digest: Digest;
  readonly budget: RemovalBudget;
  readonly removals: RemovalMemory;
  /** Awaited before each pass. Default: no wait. */
  readonly mayBegin?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly onWrite?: ((event: PulledWorkWritten) => void) | undefined;
  readonly onHeld?: ((held: PullHeld) => void) | undefined;
  readonly onError?: ((key: string, error: unknown) => void) | undefined;
}

export const PULL_FIELD_MANAGER = { fieldManager: 'berth-pull' } as const;
