import { PLACEMENT } from '@berth/kube/model/kinds';
import { identityOf, namespacedName, objectIdentity } from '@berth/kube/model/object-ref';
import type { Plan } from '../plan.ts';
import type { PlanSide } from '../plan-input.ts';
import { planWorkloads, publishedOf } from '../workload-plans.ts';
import type { RiskInput } from './risk-input.ts';

/** The change with everything that would be held as published and deleted. Undefined if nothing would be held. */
export function approvedChange(input: RiskInput): RiskInput | undefined {
  const { plan, base } = input;
  const placements = plan.placements.filter(({ held }) => held !== undefined);
  const deletions = plan.objects.filter(({ held }) => held === true);
  if (placements.length + deletions.length === 0) return undefined;
  const head = approvedSide(input.head, placements, deletions);
  return { ...input, head, plan: { ...plan, workloads: planWorkloads(base, head) } };
}

function approvedSide(head: PlanSide, placements: Plan['placements'], deletions: Plan['objects']): PlanSide {
  const published = new Map(publishedOf(head));
  for (const { namespace, name, after } of placements)
    published.set(namespacedName({ namespace, name }), after?.clusters ?? []);
  for (const { ref } of deletions) if (ref.kind === PLACEMENT.kind) published.delete(namespacedName(ref));
  const gone = new Set(deletions.map(({ ref }) => objectIdentity(ref)));
  return {
    ...head,
    published,
    onHub: (head.onHub ?? head.objects).filter(({ object }) => !gone.has(identityOf(object))),
    results: head.results.filter(({ placement }) => published.has(namespacedName(placement.metadata))),
  };
}
