import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWorkReplicaSet } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import type { RolloutRules } from '../../rollout/rollout-plan.ts';
import type { ClusterWorks } from './replica-set-child.ts';

/** The inputs of planning one ManifestWorkReplicaSet. */
export interface ReplicaSetInput {
  readonly replicaSet: ManifestWorkReplicaSet;
  /** Placements of its namespace, by name; absent ones do not exist. */
  readonly placements: ReadonlyMap<string, Placement>;
  /** PlacementDecisions by placement name. */
  readonly decisions: ReadonlyMap<string, readonly PlacementDecision[]>;
  /** Every ManifestWork that carries its owner label. */
  readonly children: readonly ManifestWork[];
  /** The specs that a cluster shall get (several when one would be too large), or why it cannot get any. */
  readonly specsFor: (cluster: string) => ClusterSpecs;
  /** Whether works may be made for the cluster. If not, the works that it has stay as they are. */
  readonly takesWork: (cluster: string) => boolean;
  readonly nowMs: number;
  /** RFC 3339 of nowMs. */
  readonly now: string;
  readonly rules: RolloutRules;
  /** No new cluster starts; works of deselected clusters are still deleted. */
  readonly paused: boolean;
}

export type ClusterSpecs =
  | { readonly ok: true; readonly specs: readonly ManifestWorkSpec[] }
  | { readonly ok: false; readonly error: string };

/** For `specsFor` if the template uses values of the cluster. */
export type ClusterLookup = (cluster: string) => ManagedCluster | undefined;

export type WorkAction =
  | { readonly type: 'create'; readonly work: ManifestWork }
  /** `spec` absent: only labels change. */
  | {
      readonly type: 'update';
      readonly current: ManifestWork;
      readonly labels: Readonly<Record<string, string>>;
      readonly spec?: ManifestWorkSpec | undefined;
    }
  | { readonly type: 'delete'; readonly current: ManifestWork; readonly reason: string };

/** The result of one placement reference. */
export interface PlacementOutcome {
  readonly name: string;
  readonly state: 'planned' | 'placement-missing' | 'incomplete' | 'misconfigured';
  /** Why, when the state is not `planned`. */
  readonly message: string;
  readonly groups: number;
  readonly selected: number;
  readonly clusters: ReadonlySet<string>;
  /** Selected clusters for which no work is written, because they are being deleted or do not exist. */
  readonly withoutWork: readonly string[];
  /** Clusters whose works have the wanted content. */
  readonly upToDate: readonly ClusterWorks[];
  readonly existing: readonly ClusterWorks[];
  readonly succeeded: number;
  readonly timedOut: readonly string[];
  readonly failed: readonly string[];
  readonly maxFailureBreach: boolean;
}

export interface ReplicaSetPlan {
  readonly actions: readonly WorkAction[];
  readonly placements: readonly PlacementOutcome[];
  readonly recheckAfterMs: number | undefined;
}
