import type { ObjectRef } from '../../model/object-ref.ts';

/** A field of an object that differs. Values are canonical JSON, cut where they are long; a Secret's are never given. */
export interface FieldChange {
  /** `spec.template.spec.containers[0].image` */
  readonly path: string;
  /** Undefined: not there before, or a secret. */
  readonly before: string | undefined;
  /** Undefined: not there after, or a secret. */
  readonly after: string | undefined;
  /** The values are left out because they are secret. */
  readonly secret?: true;
}

/** One manifest of a workload. */
export interface ManifestChange {
  readonly change: 'created' | 'deleted' | 'changed';
  readonly ref: ObjectRef;
  /** Empty unless changed. */
  readonly fields: readonly FieldChange[];
}

/** What an ApplicationSet makes of the published decisions before, and of those after. */
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
  /** Why it makes no Applications after the change; absent when it makes them, or makes none. */
  readonly failure?: string | undefined;
  /** Why Berth does not render it, so that nothing is known; absent when it does. */
  readonly notRendered?: string | undefined;
  /** What its Applications deployed stays when they are deleted, because its sync policy says so. */
  readonly preserves?: true | undefined;
}

export interface ApplicationChange {
  readonly change: 'created' | 'deleted' | 'changed';
  readonly name: string;
  /** The cluster that it deploys to: name, else address. Before, where it is deleted. */
  readonly destination: string;
  /** Empty unless changed. */
  readonly fields: readonly FieldChange[];
}

/** How one placement's clusters get new content of one workload. */
export interface RolloutForecast {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** `namespace/name` */
  readonly placement: string;
  readonly strategy: 'All' | 'Progressive' | 'ProgressivePerGroup';
  /** Clusters that start together, in order; every cluster succeeds at once. */
  readonly waves: readonly RolloutWave[];
  /** Waves after the listed ones, if they are as large as the last of these; 0: all are listed. */
  readonly moreWaves: number;
  /** Milliseconds from the start until the last cluster has succeeded for long enough, if each cluster needs no time. */
  readonly shortestMs: number;
  /** Why it cannot roll out; absent when it can. */
  readonly problem?: string | undefined;
}

export interface RolloutWave {
  readonly clusters: readonly string[];
  /** Milliseconds after the start. */
  readonly startsAfterMs: number;
}
