import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { SourceLocation } from '@berth/runtime/problem/source-location';
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

/**
 * Where an object is declared in the head, or else in the base.
 * @param kind as in the manifest
 */
export type Locate = (kind: string, namespace: string, name: string) => SourceLocation | undefined;

export function locator({ base, head }: RiskInput): Locate {
  const objects = [base.declared ?? base.objects, head.declared ?? head.objects];
  // Only a few kinds are looked up, of thousands of objects.
  const places = new Map<string, ReadonlyMap<string, SourceLocation>>();
  return (kind, namespace, name) => {
    const known = places.get(kind) ?? placesOf(kind, objects);
    places.set(kind, known);
    return known.get(`${namespace}/${name}`);
  };
}

function placesOf(kind: string, sides: readonly PlanSide['objects'][]): ReadonlyMap<string, SourceLocation> {
  const places = new Map<string, SourceLocation>();
  for (const side of sides)
    for (const { object, location } of side)
      if (object.kind === kind)
        places.set(`${object.metadata.namespace ?? ''}/${object.metadata.name}`, location);
  return places;
}

/**
 * Clusters that the change deletes on the hub, also those whose deletion is held. An assumption that a cluster is lost
 * deletes nothing.
 */
export function unregisteredClusters({ plan }: Pick<RiskInput, 'plan'>): ReadonlySet<string> {
  const declared = plan.objects.flatMap(({ change, ref }) =>
    change === 'deleted' && ref.kind === MANAGED_CLUSTER.kind ? [ref.name] : [],
  );
  return new Set([...declared, ...(plan.whatIf.length === 0 ? removedClusters(plan) : [])]);
}

/** Clusters that are not there after the change. */
export function removedClusters({ fleet }: Plan): readonly string[] {
  return fleet.flatMap(({ name, change }) => (change === 'removed' ? [name] : []));
}
