import type { ObjectRef } from '@berth/kube/model/object-ref';

/**
 * A field of an object that differs. Values are canonical JSON and may be truncated. Values of a Secret are never
 * included.
 */
export interface FieldChange {
  /** `spec.template.spec.containers[0].image` */
  readonly path: string;
  /** Undefined: not there before, or a secret. */
  readonly before: string | undefined;
  /** Undefined: not there after, or a secret. */
  readonly after: string | undefined;
  /** The values are omitted because they are secret. */
  readonly secret?: true;
}

/** One manifest of a workload. */
export interface ManifestChange {
  readonly change: 'created' | 'deleted' | 'changed';
  readonly ref: ObjectRef;
  /** Empty unless changed. */
  readonly fields: readonly FieldChange[];
}

/** The Applications that an ApplicationSet makes from the decisions before and after the change. */
export interface ApplicationSetPlan {
  readonly namespace: string;
  readonly name: string;
  readonly change: 'created' | 'deleted' | 'changed' | 'unchanged';
  /** Placements (`namespace/name`) whose decisions it reads. */
  readonly placements: readonly string[];
  /** By name. */
  readonly applications: readonly ApplicationChange[];
  /** Applications that stay as they are. */
  readonly kept: number;
  /** The error because of which it makes no Applications after the change; absent if there is none. */
  readonly failure?: string | undefined;
  /** Why Berth cannot render it, so that the result is unknown; absent if it can. */
  readonly notRendered?: string | undefined;
  /** The resources of its Applications stay when the Applications are deleted, because of its sync policy. */
  readonly preserves?: true | undefined;
}

export interface ApplicationChange {
  readonly change: 'created' | 'deleted' | 'changed';
  readonly name: string;
  /** Its destination cluster: name or address. Before the change, if it is deleted. */
  readonly destination: string;
  /** Empty unless changed. */
  readonly fields: readonly FieldChange[];
}

/** How the clusters of one placement get new content of one workload. */
export interface RolloutForecast {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** `namespace/name` */
  readonly placement: string;
  readonly strategy: 'All' | 'Progressive' | 'ProgressivePerGroup';
  /** Clusters that start together, in order, if every cluster succeeds at once. */
  readonly waves: readonly ForecastBatch[];
  /** Number of further batches, if they are as large as the last listed one; 0 if all are listed. */
  readonly moreWaves: number;
  /**
   * Milliseconds from the start until the last cluster has succeeded for the required time, if each cluster needs no
   * time.
   */
  readonly shortestMs: number;
  /** A cluster that has not succeeded after this time counts as failed. Absent: there is no deadline. */
  readonly deadlineMs?: number | undefined;
  /**
   * With a deadline: nothing new starts when more clusters have failed (ProgressivePerGroup: of one group): `1`; or
   * `10%`, if that is another number in each group.
   */
  readonly maxFailures?: string | undefined;
  /** With a deadline: groups of which no cluster may fail come first. */
  readonly hasMandatoryGroups?: true | undefined;
  /** Why it cannot roll out; absent when it can. */
  readonly problem?: string | undefined;
}

export interface ForecastBatch {
  readonly clusters: readonly string[];
  /** Milliseconds after the start. */
  readonly startsAfterMs: number;
}
