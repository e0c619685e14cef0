import type { Ownership } from '../rules/update/merge-metadata.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { UpdateStrategy } from '@berth/ocm/kind/manifest-work';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { LiveObjects } from '../cluster/live-objects.ts';
import type { ReadyTask } from '../cluster/manifest-task.ts';
import type { ApplyCache } from './apply-cache.ts';

/** The inputs for applying one manifest with a strategy. */
export interface ApplyContext {
  /** Name of the work. */
  readonly work: string;
  readonly cluster: KubeApi;
  readonly live: LiveObjects;
  readonly memory: ApplyCache;
  readonly task: ReadyTask;
  readonly ownership: Ownership;
  readonly strategy: UpdateStrategy | undefined;
  /** Whether to read the live object from the server and not from the watch, because the last attempt had a conflict. */
  readonly fresh: boolean;
  /** Whether nothing suggests that the object exists. Creating it without a read then saves a request. */
  readonly likelyNew: boolean;
  /**
   * Whether the work's status shows that this version was applied, possibly by an earlier process.
   */
  readonly appliedBefore: boolean;
  /** Whether the executor of the work may delete the object. True without an executor. */
  readonly mayDelete: () => Promise<boolean>;
}

/** The result of a strategy. It has no object if the strategy reads none (ReadOnly). */
export interface StrategyResult {
  readonly object?: KubeObject | undefined;
  /** Whether anything was written to the cluster. */
  readonly wrote: boolean;
}

export function readLive({ live, task, fresh }: ApplyContext): Promise<KubeObject | undefined> {
  return fresh ? live.getFresh(task) : live.get(task);
}

/** The object with its managedFields, which the watch does not keep. */
export async function withManagers(context: ApplyContext, live: KubeObject): Promise<KubeObject | undefined> {
  if (live.metadata.managedFields !== undefined) return live;
  const { task, cluster, work } = context;
  const current = await cluster.get(task.kind, task.key);
  if (current !== undefined) context.live.written(task.kind, current, work);
  return current;
}
