import { fieldConflicts, mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import { type BerthError, errorText, TransientError } from '@berth/runtime/errors';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, refOf } from '@berth/kube/model/object-ref';
import { missingNamespace } from '@berth/agent/rules/applied/kube-failure';
import { formatLocation } from '@berth/runtime/problem/source-location';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { LeftField } from '../../../core/sync/left-fields.ts';
import { NOT_SERVED } from './objects-on-hub.ts';

/** Why one object could not be applied or deleted. */
export interface SyncProblem {
  readonly object: string;
  /** The message without the name of the object. */
  readonly message: string;
  /** `path:line:column` in the source. */
  readonly location: string | undefined;
  /** Whether the problem may disappear without a change in Git. */
  readonly retry: boolean;
  /** The hub did not respond for an input of decisions, so the commit is only partly applied. */
  readonly isCommitPartial?: boolean;
  /** The hub does not serve the object's kind. */
  readonly isNotServed?: boolean;
  /** The namespace of the object, if the hub does not have it. */
  readonly missingNamespace?: string;
}

/** The objects whose kind the hub does not serve, with their locations. */
export function notServedAmong(problems: readonly SyncProblem[]): readonly string[] {
  return problems
    .filter(({ isNotServed }) => isNotServed === true)
    .map(({ object, location }) => `${object} (${location})`);
}

const DECISION_INPUTS = new Set([
  'ManagedCluster',
  'ManagedClusterSet',
  'ManagedClusterSetBinding',
  'AddOnPlacementScore',
  'Placement',
]);

/**
 * Whether decisions must wait until the request succeeds, because the hub did not respond for one of their inputs. An
 * unserved kind, a missing right, or an object of another source will not change soon.
 */
export function leavesCommitPartial({ kind }: { readonly kind: string }, error: BerthError): boolean {
  return error instanceof TransientError && error.code.startsWith('kube.') && DECISION_INPUTS.has(kind);
}

export function syncProblemOf(
  entry: { readonly object: KubeObject; readonly location?: SourceObject['location'] },
  error: BerthError,
): SyncProblem {
  const conflicts = fieldConflicts(error);
  const missing = missingNamespace(error);
  const object = formatRef(refOf(entry.object));
  const fields = conflicts.map(({ field, message }) => `${field} (${message})`).join('; ');
  return {
    object,
    message:
      conflicts.length === 0
        ? besides(object, errorText(error))
        : `cannot be applied, because labels or annotations of Berth belong to another manager: ${fields}`,
    location: entry.location === undefined ? undefined : formatLocation(entry.location),
    retry: error instanceof TransientError || mayBeAllowedLater(error),
    isCommitPartial: leavesCommitPartial(entry.object, error),
    ...(error.code === NOT_SERVED && { isNotServed: true }),
    ...(missing !== undefined && { missingNamespace: missing }),
  };
}

/** The problem of an object that was applied except for fields of other managers. */
export function leftFieldsProblem(
  entry: Pick<SourceObject, 'object' | 'location'>,
  left: readonly LeftField[],
): SyncProblem {
  const named = left
    .slice(0, MAX_NAMED)
    .map(({ name, managers }) => `${name} (${managers.length === 0 ? 'unknown' : managers.join(', ')})`);
  const more = left.length > MAX_NAMED ? ` and ${String(left.length - MAX_NAMED)} more` : '';
  return {
    object: formatRef(refOf(entry.object)),
    message: `fields belong to another manager and stay unchanged, everything else is applied: ${named.join(', ')}${more}`,
    location: formatLocation(entry.location),
    retry: false,
    isCommitPartial: false,
  };
}

/** Maximum number of fields that one message names. */
const MAX_NAMED = 20;

/** An error about the object itself starts with its name, so the name is removed here. */
function besides(object: string, text: string): string {
  return text.startsWith(`${object}: `) ? text.slice(object.length + 2) : text;
}
