import type { Clock, Logger } from '../../core/ports.ts';
import { ReconcileLoop } from '../../runtime/reconcile-loop.ts';
import { DONE } from '../../runtime/reconciler.ts';

/** One process that retries against itself has nobody to spread out from. */
const NO_JITTER = (): number => 1;

/** The loop of one controller: a step for one key at a time, again and ever later when it fails. */
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
