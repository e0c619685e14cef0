import type { SourceLocation } from '../../model/source-location.ts';
import type { Plan } from '../plan.ts';
import type { PlanSide } from '../plan-input.ts';

/** What dangers are looked for in. */
export interface RiskInput {
  readonly plan: Plan;
  readonly base: PlanSide;
  readonly head: PlanSide;
  /** Names of the clusters that Argo CD has a Secret of; undefined: not known. */
  readonly argocdClusters: ReadonlySet<string> | undefined;
}

/** Where an object of the head, else of the base, is declared. @param kind as in the manifest */
export type Locate = (kind: string, namespace: string, name: string) => SourceLocation | undefined;

export function locator({ base, head }: RiskInput): Locate {
  const places = new Map<string, SourceLocation>();
  for (const { object, location } of [...(base.declared ?? base.objects), ...(head.declared ?? head.objects)])
    places.set(`${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`, location);
  return (kind, namespace, name) => places.get(`${kind} ${namespace}/${name}`);
}
