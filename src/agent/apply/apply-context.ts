import type { Ownership } from '../../core/work/update/merge-metadata.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import type { UpdateStrategy } from '../../core/model/kind/manifest-work.ts';
import type { KubeApi } from '../../core/ports.ts';
import type { LiveObjects } from '../cluster/live-objects.ts';
import type { ReadyTask } from '../cluster/manifest-task.ts';
import type { ApplyCache } from './apply-cache.ts';

/** Everything one strategy needs to apply one manifest. */
export interface ApplyContext {
  /** Name of the work. */
  readonly work: string;
  readonly cluster: KubeApi;
  readonly live: LiveObjects;
  readonly memory: ApplyCache;
  readonly task: ReadyTask;
  readonly ownership: Ownership;
  readonly strategy: UpdateStrategy | undefined;
  /** The live object is read from the server, not from the watch: the last attempt had a conflict. */
  readonly fresh: boolean;
  /** Nothing suggests that the object exists: creating it right away saves a read. */
  readonly likelyNew: boolean;
  /**
   * Whether the work's status shows that this version was applied, possibly by an earlier process.
   */
  readonly appliedBefore: boolean;
  /** May the work's executor delete the object? True without an executor. */
  readonly mayDelete: () => Promise<boolean>;
}

/** The result of a strategy; without an object where none is read (ReadOnly). */
export interface StrategyResult {
  readonly object?: KubeObject | undefined;
  /** The cluster was written to. */
  readonly wrote: boolean;
}

export function readLive({ live, task, fresh }: ApplyContext): Promise<KubeObject | undefined> {
  return fresh ? live.getFresh(task) : live.get(task);
}
