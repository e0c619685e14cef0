import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import { ConflictError } from '@berth/runtime/errors';
import { FailingKeys } from '@berth/runtime/loop/failing-keys';
import type { RegistrationDuty } from '../../core/registration/duties.ts';
import { runReconciler } from '@berth/runtime/loop/reconciler';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import { refusedKindText } from '../inventory/refused-kind.ts';
import { CertificateApprover } from './certificate-approver.ts';
import { ClusterCleaner } from './cluster-cleaner.ts';
import { AcceptanceController } from './acceptance-controller.ts';
import { ClusterSetController } from './cluster-set-controller.ts';
import { SharedRoleController } from './shared-role-controller.ts';
import { TaintController } from './taint-controller.ts';
import type { RegistrationController, RegistrationOptions } from './registration-options.ts';
import { LeaseController } from './lease-controller.ts';

export interface RunningRegistration {
  /** What fails at the moment, as text for users. Berth retries all of it. */
  warnings(): readonly string[];
  close(): Promise<void>;
}

const WORKERS = 4;

const CONTROLLERS: Readonly<
  Record<RegistrationDuty, (options: RegistrationOptions) => readonly RegistrationController[]>
> = {
  acceptance: (options) => [new SharedRoleController(options), new AcceptanceController(options)],
  approval: (options) => [new CertificateApprover(options)],
  health: (options) => [new LeaseController(options)],
  taints: (options) => [new TaintController(options)],
  sets: (options) => [new ClusterSetController(options)],
  cleanup: (options) => [new ClusterCleaner(options)],
};

/** Runs the given registration controllers on the hub. */
export function startRegistration(
  options: RegistrationOptions,
  duties: readonly RegistrationDuty[],
): RunningRegistration {
  const { clock, random, log, mayBegin, onError } = options;
  const supervisor = new Supervisor({ clock, random, log });
  const failing = new FailingKeys('passes of registration');
  const controllers = duties.flatMap((duty) => CONTROLLERS[duty](options));
  for (const controller of controllers) {
    const { name } = controller;
    if (controller.run !== undefined)
      supervisor.start(`watch of ${name}`, (signal) => controller.run?.(signal) ?? Promise.resolve());
    supervisor.start(`registration: ${name}`, async (signal) => {
      // Until every kind has been listed, an object that seems to be missing may just be unread.
      await Promise.all(controller.reads.map((reflector) => reflector.whenSynced(signal)));
      if (signal.aborted) return;
      const queue = new WorkQueue(clock);
      controller.follow(queue);
      await runReconciler(
        {
          ...{ clock, random, log, name: `registration: ${name}`, queue, mayBegin },
          concurrency: WORKERS,
          isRetryable: mayBeAllowedLater,
          reconcile: async (key) => {
            const outcome = await controller.reconcile(key);
            failing.succeeded(`registration: ${name} of ${key}`);
            return outcome;
          },
          onError: (key, error) => {
            // Another writer was faster: its event starts the next pass.
            if (error instanceof ConflictError) return;
            failing.failed(`registration: ${name} of ${key}`, error);
            onError?.(`${name} ${key}`, error);
          },
        },
        signal,
      );
    });
  }
  return {
    warnings: () => [
      ...refusals(controllers),
      ...controllers.flatMap((controller) => [...(controller.warnings?.() ?? [])]),
      ...failing.warnings(),
    ],
    close: () => supervisor.close(),
  };
}

function refusals(controllers: readonly RegistrationController[]): readonly string[] {
  const reflectors = new Set(controllers.flatMap(({ reads }) => reads));
  return [...reflectors].flatMap(({ kind, failure }) =>
    failure === undefined
      ? []
      : [`registration: ${refusedKindText(kind, failure)}; until then, controllers that need it do nothing`],
  );
}
