import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { ReconcileLoop, DONE } from '@berth/runtime/loop/reconciler';

/** A control loop: derives its work from what is stored when it starts, then from changes. */
export interface HubController {
  start(): void;
  stop(): Promise<void>;
}

/** Jitter is not needed, because only one process retries. */
const NO_JITTER = (): number => 1;

/** The reconcile loop of one controller: one key at a time, with exponential back-off. */
export function controllerLoop(
  name: string,
  step: (key: string) => Promise<void>,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): ReconcileLoop {
  return new ReconcileLoop({
    name,
    reconcile: async (key) => {
      await step(key);
      return DONE;
    },
    concurrency: 1,
    clock,
    random: NO_JITTER,
    log,
    backoff: { initialMs: 100, maxMs: 60_000 },
  });
}
