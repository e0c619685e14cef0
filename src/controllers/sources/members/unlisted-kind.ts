import { groupVersionOf } from '@berth/kube/model/object-ref';
import { type BerthError, errorText, InputError } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import { formatLocation } from '@berth/runtime/problem/source-location';
import { SERVE_RIGHTS } from '../../../core/rbac/rights-command.ts';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { MemberKind } from '../../../core/sync/apply-set.ts';
import { leavesCommitPartial, type SyncProblem } from './sync-problem.ts';

/**
 * A kind that could not be listed on the hub: the objects of a source of this kind are unknown, so
 * none is applied or deleted.
 */
export interface UnlistedKind extends MemberKind {
  /** The resource as roles name it: `deployments.apps`; the kind if the resource is unknown. */
  readonly resource: string;
  readonly error: BerthError;
}

/** @param info absent if discovery failed, too */
export function resourceName({ apiVersion, kind }: MemberKind, info: KindInfo | undefined): string {
  const { group } = groupVersionOf(apiVersion);
  const name = info?.plural ?? kind;
  return group === '' ? name : `${name}.${group}`;
}

export function isOfKind({ apiVersion, kind }: MemberKind) {
  return (other: MemberKind): boolean => other.apiVersion === apiVersion && other.kind === kind;
}

/** @param sources the objects of that kind in Git */
export function unlistedProblem(kind: UnlistedKind, sources: readonly SourceObject[]): SyncProblem {
  const { resource, error } = kind;
  const refused = error instanceof InputError && error.code === 'kube.forbidden';
  const why = refused
    ? `the right to list ${resource} in all namespaces is missing (${SERVE_RIGHTS} prints it)`
    : `${resource} cannot be listed: ${errorText(error)}`;
  const what = sources.length === 0 ? 'its remaining objects' : `its objects (${sources.length} in Git)`;
  const [first] = sources;
  return {
    object: `kind ${resource}`,
    message: `${why}; ${what} can neither be applied nor deleted until then; everything else continues`,
    location: first === undefined ? undefined : formatLocation(first.location),
    retry: true,
    isCommitPartial: leavesCommitPartial(kind, error),
  };
}
