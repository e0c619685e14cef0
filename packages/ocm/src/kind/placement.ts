import type {
  LabelSelector,
  LabelSelectorRequirement,
} from '@berth/kube/model/selector/label-selector-compile';
import type { TaintEffect } from './managed-cluster.ts';
import type { Condition, ObjectMeta, IntOrString } from '@berth/kube/model/object-meta';

/** cluster.open-cluster-management.io/v1beta1. An absent field has the API's default. */
export interface Placement {
  readonly apiVersion: string;
  readonly kind: 'Placement';
  readonly metadata: ObjectMeta;
  readonly spec?: PlacementSpec | undefined;
  readonly status?: PlacementStatus | undefined;
}

export interface PlacementSpec {
  readonly clusterSets?: readonly string[] | undefined;
  /** Absent: every matching cluster. */
  readonly numberOfClusters?: number | undefined;
  readonly predicates?: readonly ClusterPredicate[] | undefined;
  readonly prioritizerPolicy?: PrioritizerPolicy | undefined;
  readonly spreadPolicy?:
    | { readonly spreadConstraints?: readonly SpreadConstraint[] | undefined }
    | undefined;
  readonly tolerations?: readonly Toleration[] | undefined;
  readonly decisionStrategy?: DecisionStrategy | undefined;
  /** Declared by the API, ignored upstream. Absent: ClusterName. */
  readonly sortBy?: 'ClusterName' | 'Score' | undefined;
  /** Duration, e.g. `1m`: how often PlacementDecisions may be rewritten when only scores changed. */
  readonly scoreRateLimit?: string | undefined;
}

export interface ClusterPredicate {
  readonly requiredClusterSelector?: ClusterSelector | undefined;
}

export interface ClusterSelector {
  readonly labelSelector?: LabelSelector | undefined;
  readonly claimSelector?: ClusterClaimSelector | undefined;
  readonly celSelector?: { readonly celExpressions?: readonly string[] | undefined } | undefined;
}

export interface ClusterClaimSelector {
  readonly matchExpressions?: readonly LabelSelectorRequirement[] | undefined;
}

export interface PrioritizerPolicy {
  readonly mode?: string | undefined;
  readonly configurations?: readonly PrioritizerConfig[] | undefined;
}

export interface PrioritizerConfig {
  readonly scoreCoordinate?: ScoreCoordinate | undefined;
  readonly weight?: number | undefined;
}

export interface ScoreCoordinate {
  readonly type?: string | undefined;
  readonly builtIn?: string | undefined;
  readonly addOn?:
    | { readonly resourceName?: string | undefined; readonly scoreName?: string | undefined }
    | undefined;
}

export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly topologyKeyType: 'Label' | 'Claim';
  /** ≥ 1; absent: 1. */
  readonly maxSkew?: number | undefined;
  /** Absent: ScheduleAnyway. */
  readonly whenUnsatisfiable?: 'DoNotSchedule' | 'ScheduleAnyway' | undefined;
}

export interface Toleration {
  readonly key?: string | undefined;
  readonly operator?: 'Equal' | 'Exists' | '' | undefined;
  readonly value?: string | undefined;
  readonly effect?: TaintEffect | '' | undefined;
  readonly tolerationSeconds?: number | undefined;
}

export interface DecisionStrategy {
  readonly groupStrategy?: GroupStrategy | undefined;
}

export interface GroupStrategy {
  readonly decisionGroups?: readonly DecisionGroupSpec[] | undefined;
  /** Integer, or percentage of the selected clusters. Absent: 100%. */
  readonly clustersPerDecisionGroup?: IntOrString | undefined;
}

export interface DecisionGroupSpec {
  readonly groupName: string;
  readonly groupClusterSelector?: Pick<ClusterSelector, 'labelSelector' | 'claimSelector'> | undefined;
}

export interface PlacementStatus {
  readonly numberOfSelectedClusters?: number | undefined;
  readonly decisionGroups?: readonly DecisionGroupStatus[] | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

export interface DecisionGroupStatus {
  readonly decisionGroupIndex: number;
  readonly decisionGroupName: string;
  /** Names of the PlacementDecisions of the group. */
  readonly decisions: readonly string[];
  readonly clusterCount: number;
}

/** A placement with this annotation set to exactly "true" is ignored by schedulers. */
export const SCHEDULING_DISABLE_ANNOTATION =
  'cluster.open-cluster-management.io/experimental-scheduling-disable';
