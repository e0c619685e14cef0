import type { SourceLocation } from '../../model/source-location.ts';
import type { Plan } from '../plan.ts';
import type { PlanSide } from '../plan-input.ts';

/** The input of the risk assessment. */
export interface RiskInput {
  readonly plan: Plan;
  readonly base: PlanSide;
  readonly head: PlanSide;
  /** Names of the clusters that have a Secret in Argo CD; undefined if unknown. */
  readonly argocdClusters: ReadonlySet<string> | undefined;
}

/** Where an object is declared in the head, or else in the base. @param kind as in the manifest */
export type Locate = (kind: string, namespace: string, name: string) => SourceLocation | undefined;

export function locator({ base, head }: RiskInput): Locate {
  const places = new Map<string, SourceLocation>();
  for (const { object, location } of [...(base.declared ?? base.objects), ...(head.declared ?? head.objects)])
    places.set(`${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`, location);
  return (kind, namespace, name) => places.get(`${kind} ${namespace}/${name}`);
}
