import { namespacedName } from '../../../core/model/object-ref.ts';
import type { RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';
import type { ApplicationContext } from '../plan-applications.ts';
import type { PlanRevisionsInput } from '../plan-revisions.ts';
import type { SentObjects } from './numbered-objects.ts';
import { packSnapshot, type SentSnapshot } from './sent-snapshot.ts';

/** What a plan is made of, without what cannot be sent to another process. */
export interface PlanJob {
  readonly type: 'plan';
  readonly input: Omit<
    PlanRevisionsInput,
    'applications' | 'budgetOf' | 'headsOf' | 'hub' | 'hubApi' | 'memory' | 'onProgress'
  >;
  readonly hub: SentSnapshot | undefined;
  readonly applications: Omit<ApplicationContext, 'inputsOf'> | undefined;
  /** By `namespace/name`, of the placements on the hub. */
  readonly budgets: ReadonlyMap<string, RemovalBudget>;
  /** Undefined: there is no hub to ask. */
  readonly server: string | undefined;
}

/** @param sent what the other process got before */
export function jobOf(
  given: PlanRevisionsInput,
  ambient: PlanRevisionsInput['ambient'],
  sent: SentObjects,
): PlanJob {
  const { applications, budgetOf, headsOf: _headsOf, hub, hubApi, ...rest } = given;
  const { memory: _memory, onProgress: _onProgress, ...input } = rest;
  const { inputsOf: _inputsOf, ...context } = applications ?? {};
  return {
    type: 'plan',
    input: { ...input, ambient },
    hub: hub && packSnapshot(hub, sent),
    applications: applications && (context as PlanJob['applications']),
    budgets: new Map(
      (hub?.placements ?? []).flatMap((placement) => {
        const budget = budgetOf?.(placement);
        return budget === undefined ? [] : [[namespacedName(placement.metadata), budget] as const];
      }),
    ),
    server: hubApi?.server,
  };
}
