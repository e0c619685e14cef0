import { namespacedName } from '@berth/kube/model/object-ref';
import type { RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';
import type { ApplicationContext } from '../plan-applications.ts';
import type { PlanRevisionsInput } from '../plan-revisions.ts';
import type { SentObjects } from './numbered-objects.ts';
import { packSnapshot, type SentSnapshot } from './sent-snapshot.ts';

/** The input of a plan, without the parts that cannot be sent to another process. */
export interface PlanJob {
  readonly type: 'plan';
  readonly input: Omit<
    PlanRevisionsInput,
    'applications' | 'budgetOf' | 'headsOf' | 'hub' | 'hubApi' | 'memory' | 'onProgress'
  >;
  readonly hub: SentSnapshot | undefined;
  readonly applications: Omit<ApplicationContext, 'inputsOf'> | undefined;
  /** The budgets of the placements on the hub, by `namespace/name`. */
  readonly budgets: ReadonlyMap<string, RemovalBudget>;
  /** The address of the hub; undefined without one. */
  readonly server: string | undefined;
}

/** @param sent the objects that the other process has */
export function jobOf(
  full: PlanRevisionsInput,
  ambient: PlanRevisionsInput['ambient'],
  sent: SentObjects,
): PlanJob {
  const { applications, budgetOf, headsOf: _headsOf, hub, hubApi, ...rest } = full;
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
