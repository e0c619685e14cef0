import type { KubeObject } from '@berth/kube/model/object-meta';
import { withAdoption } from './applied/adoption.ts';
import { withHubTaints } from './applied/cluster-taints.ts';
import { FIELD_MANAGER } from './applied/field-names.ts';
import { desiredObject, type DesiredOptions } from './desired-object.ts';
import { type LeftField, standingLeftFields, withoutLeftFields } from './left-fields.ts';

export interface ApplyOptions extends DesiredOptions {
  /** Take fields that other managers own. */
  readonly takesFields: boolean;
}

/** What a source sends of one object. */
export interface PlannedApply {
  /** The object of Git with what Berth adds to it. */
  readonly fromGit: KubeObject;
  /** The same with the taints of others. */
  readonly desired: KubeObject;
  /** The part of `desired` that is sent; undefined while it is not known which fields stay with other managers. */
  readonly sent: KubeObject | undefined;
  /** The fields that stay with other managers. */
  readonly left: readonly LeftField[];
}

/**
 * Computes what a source sends of one object. The controller and a plan both use it.
 * @param placed the object of Git, with its namespace on the hub
 * @param live the object on the hub, with its managedFields; undefined: it is not there, or not known
 */
export function plannedApply(
  placed: KubeObject,
  live: KubeObject | undefined,
  options: ApplyOptions,
): PlannedApply {
  const { takesFields } = options;
  const fromGit = withAdoption(desiredObject(placed, options), live, takesFields);
  const found = standingLeftFields(fromGit, live, FIELD_MANAGER);
  const standing = takesFields && found?.length !== 0 ? undefined : found;
  const desired = withHubTaints(fromGit, live, FIELD_MANAGER);
  const sent = standing && withoutLeftFields(desired, standing);
  return { fromGit, desired, sent, left: standing ?? [] };
}
