import type { Application } from '../argo-application.ts';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { sameWorkSpec } from '../../work/manifests/same-work-spec.ts';
import { FROM_SET_LABEL, HOSTING_SET_KEY } from './pull-keys.ts';
import { operationStage } from './operation-stage.ts';
import { pullCluster, pullWorkName } from './pull-target.ts';
import { renderPullWork } from './render-pull-work.ts';

export interface PullInput {
  /** The hub's Application; undefined if there is none. */
  readonly application: Application | undefined;
  /** Works that contain it, on all clusters. */
  readonly works: readonly ManifestWork[];
  /** Whether works may be made for the cluster: it exists and is not being deleted. */
  readonly takesWork: (cluster: string) => boolean;
}

export type PullWrite =
  | { readonly type: 'none' }
  | { readonly type: 'create'; readonly work: ManifestWork }
  | { readonly type: 'update'; readonly work: ManifestWork };

export interface WorkToRemove {
  readonly work: ManifestWork;
  readonly reason: 'deleted' | 'moved' | 'replaced';
}

export interface PullPlan {
  /** The managed cluster that the Application names; undefined if no cluster pulls it. */
  readonly cluster: string | undefined;
  readonly write: PullWrite;
  /** Works that no longer contain it, and are not being deleted yet. */
  readonly leaving: readonly WorkToRemove[];
  /** The Application is being deleted and no cluster still has it: Argo CD's finalizer on the hub may be removed. */
  readonly mayFinalize: boolean;
}

const NOTHING: PullPlan = { cluster: undefined, write: { type: 'none' }, leaving: [], mayFinalize: false };

/**
 * The wanted works of one Application. An Application that lost its label keeps its work unchanged, as with OCM's
 * controller. The work is removed with the Application.
 */
export function planPull({ application, works, takesWork }: PullInput): PullPlan {
  const live = works.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (application === undefined)
    return { ...NOTHING, leaving: live.map((work) => toRemove(work, 'deleted')) };
  const cluster = pullCluster(application);
  if (cluster === undefined) return NOTHING;
  if (application.metadata.deletionTimestamp !== undefined)
    return {
      ...NOTHING,
      cluster,
      leaving: live.map((work) => toRemove(work, 'deleted')),
      mayFinalize: live.length === 0,
    };
  // A misspelt name must not remove the Application from its cluster, and neither must a move to a cluster that goes.
  if (!takesWork(cluster)) return { ...NOTHING, cluster };
  const name = pullWorkName(application.metadata);
  const current = works.find(({ metadata }) => metadata.namespace === cluster && metadata.name === name);
  const stage = operationStage(application, current);
  const isLeft = stage === 'ended' || stage === 'waits';
  const wanted = renderPullWork(isLeft ? { ...application, operation: undefined } : application, cluster);
  return {
    cluster,
    write: planWrite(wanted, current),
    leaving: live
      .filter((work) => work !== current)
      .map((work) => toRemove(work, work.metadata.namespace === cluster ? 'replaced' : 'moved')),
    mayFinalize: false,
  };
}

function toRemove(work: ManifestWork, reason: WorkToRemove['reason']): WorkToRemove {
  return { work, reason };
}

function planWrite(wanted: ManifestWork, current: ManifestWork | undefined): PullWrite {
  if (current === undefined) return { type: 'create', work: wanted };
  // It is created again after it is deleted.
  if (current.metadata.deletionTimestamp !== undefined) return { type: 'none' };
  const labels = merged(current.metadata.labels, wanted.metadata.labels, FROM_SET_LABEL);
  const annotations = merged(current.metadata.annotations, wanted.metadata.annotations, HOSTING_SET_KEY);
  const isSame =
    sameWorkSpec(current.spec, wanted.spec) &&
    sameRecord(current.metadata.labels ?? {}, labels) &&
    sameRecord(current.metadata.annotations ?? {}, annotations);
  if (isSame) return { type: 'none' };
  return {
    type: 'update',
    work: { ...current, metadata: { ...current.metadata, labels, annotations }, spec: wanted.spec },
  };
}

type Texts = Readonly<Record<string, string>>;

/**
 * Keys of others stay.
 * @param optional a key of Berth that is not always wanted
 */
function merged(current: Texts = {}, wanted: Texts = {}, optional: string): Texts {
  const { [optional]: _own, ...others } = current;
  return { ...others, ...wanted };
}

function sameRecord(left: Texts, right: Texts): boolean {
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key]);
}
