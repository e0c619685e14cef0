import { missingNamespace } from '@berth/agent/rules/applied/kube-failure';
import type { CommitInfo } from '@berth/git-reader/repository/git-repository';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, groupVersionOf, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import { fieldConflicts, mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import { type BerthError, errorText, InputError, TransientError } from '@berth/runtime/errors';
import { formatLocation } from '@berth/runtime/problem/source-location';
import { SERVE_RIGHTS } from '../../../core/rbac/rights-command.ts';
import type { MemberKind } from '../../../core/sync/apply-set.ts';
import type { LeftField } from '../../../core/sync/left-fields.ts';
import type { SourceContent } from '../manifests/source-content.ts';
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
function leavesCommitPartial({ kind }: { readonly kind: string }, error: BerthError): boolean {
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

/** The current state of a source. */
export interface SyncInput {
  readonly objects: readonly SourceObject[];
  readonly complete: boolean;
  /** See `SourceContent`. */
  readonly doubtsAbout?: SourceContent['doubtsAbout'];
  /** The commit, which may contain releases; absent for a plain folder. */
  readonly commit?: CommitInfo | undefined;
}

/** Options of a sync. */
export interface SyncOptions {
  /** False: the hub is assumed to be unchanged since the last call. Default: true. */
  readonly compare?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Result of a sync: changes of the hub, and problems. Counts are objects. */
export interface SyncOutcome {
  readonly applied: number;
  readonly unchanged: number;
  readonly pruned: number;
  readonly problems: readonly SyncProblem[];
  /** The release that approved a prune beyond the budget, and who released it. */
  readonly released?: { readonly token: string; readonly by: string } | undefined;
  readonly pruneHeld: { readonly message: string; readonly token: string } | undefined;
  /** Kinds that could not be listed, so that nothing was done for them. Each has its own entry among the problems. */
  readonly unlisted: readonly UnlistedKind[];
}
