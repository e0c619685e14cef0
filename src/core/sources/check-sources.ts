import { PLACEMENT } from '@berth/kube/model/kinds';
import type { Placement } from '@berth/ocm/kind/placement';
import type { SourceObject } from '@berth/kube/model/source-object';
import { PLAN_ANNOTATION } from '../publish/approval/publish-annotations.ts';
import { checkAnnotations } from './check-annotations.ts';
import { checkApprovedPlans } from './check-approved-plans.ts';
import { checkClusterSets } from './check-cluster-sets.ts';
import { checkPlacement } from './check-placement.ts';
import { checkWorks } from './check-works.ts';
import { ObjectsByKind } from './objects-by-kind.ts';
import { memoizePerObject } from './memoize-per-object.ts';
import { findingsAbout } from './source-finding.ts';
import type { SourceFinding } from './source-finding.ts';
import { SourceReferences } from './source-references.ts';

const checkOnePlacement = memoizePerObject(checkPlacement);

/**
 * Semantic checks of objects that have the right shape, including references.
 * @param references the names of the complete fleet, if the objects are only part of it
 */
export function checkSources(
  objects: readonly SourceObject[],
  references = new SourceReferences(objects),
): readonly SourceFinding[] {
  const fleet = new ObjectsByKind(objects);
  return [
    ...fleet
      .ofKind<Placement>(PLACEMENT)
      .flatMap((source) => findingsAbout(source, checkOnePlacement(source.object))),
    ...objects
      .filter(({ object }) => object.metadata.annotations?.[PLAN_ANNOTATION] !== undefined)
      .flatMap((source) => findingsAbout(source, checkApprovedPlans(source.object))),
    ...objects
      .filter(({ object }) => object.metadata.annotations !== undefined)
      .flatMap((source) => findingsAbout(source, checkAnnotations(source.object))),
    ...checkClusterSets(fleet, references),
    ...checkWorks(fleet, references),
  ];
}
