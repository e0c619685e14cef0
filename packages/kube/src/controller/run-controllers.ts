import { mayBeAllowedLater } from '../transport/kube-errors.ts';
import { ConflictError } from '@berth/runtime/errors';
import { FailingKeys } from '@berth/runtime/loop/failing-keys';
import { runReconciler } from '@berth/runtime/loop/reconciler';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import { refusedKindText } from '../cache/reflector-options.ts';
import type { HubController, HubControllerOptions } from './cached-controller.ts';

export interface RunningControllers {
  /** What fails at the moment, as text for users. Berth retries all of it. */
  warnings(): readonly string[];
  close(): Promise<void>;
}

/** Of one controller. A pass mostly waits for the hub, and passes over many objects would wait one after the other. */
const WORKERS = 32;

/**
 * Runs controllers until they are closed, each with a queue of its own.
 * @param what what they do together, for texts: `registration`
 */
export function runControllers(
  options: HubControllerOptions,
  controllers: readonly HubController[],
  what: string,
): RunningControllers {
  const { clock, random, log, mayBegin, onError } = options;
  const supervisor = new Supervisor({ clock, random, log });
  const failing = new FailingKeys(`passes of ${what}`);
  for (const controller of controllers) {
    const { name } = controller;
    if (controller.run !== undefined)
      supervisor.start(`watch of ${name}`, (signal) => controller.run?.(signal) ?? Promise.resolve());
    supervisor.start(`${what}: ${name}`, async (signal) => {
      // Until every kind has been listed, an object that seems to be missing may just be unread.
      await Promise.all(controller.reads.map((reflector) => reflector.whenSynced(signal)));
      if (signal.aborted) return;
      const queue = new WorkQueue(clock);
      controller.follow(queue);
      await runReconciler(
        {
          ...{ clock, random, log, name: `${what}: ${name}`, queue, mayBegin },
          concurrency: WORKERS,
          isRetryable: mayBeAllowedLater,
          reconcile: async (key, signal) => {
            const outcome = await controller.reconcile(key, signal);
            failing.succeeded(`${what}: ${name} of ${key}`);
            return outcome;
          },
          onError: (key, error) => {
            // Another writer was faster: its event starts the next pass.
            if (error instanceof ConflictError) return;
            failing.failed(`${what}: ${name} of ${key}`, error);
            onError?.(`${name} ${key}`, error);
          },
        },
        signal,
      );
    });
  }
  return {
    warnings: () => [
      ...refusals(controllers, what, options.rightsCommand),
      ...controllers.flatMap((controller) => [...(controller.warnings?.() ?? [])]),
      ...failing.warnings(),
    ],
    close: () => supervisor.close(),
  };
}

function refusals(
  controllers: readonly HubController[],
  what: string,
  rightsCommand: string | undefined,
): readonly string[] {
  const reflectors = new Set(controllers.flatMap(({ reads }) => reads));
  return [...reflectors].flatMap(({ kind, failure }) =>
    failure === undefined
      ? []
      : [
          `${what}: ${refusedKindText(kind, failure, rightsCommand)}; until then, controllers that need it do nothing`,
        ],
  );
}
