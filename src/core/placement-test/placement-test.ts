import { kind } from '@berth/kube/model/kinds';
import type { LabelSelector } from '@berth/kube/model/selector/label-selector-compile';
import type { TaintEffect } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';

/** A file of the user's repository that says what placements must decide; `berth test` runs it. Never part of a fleet. */
export const PLACEMENT_TEST = kind('berth.dev', 'v1alpha1', 'PlacementTest', 'Cluster');

export interface PlacementTest {
  readonly apiVersion: string;
  readonly kind: 'PlacementTest';
  readonly metadata: ObjectMeta;
  readonly spec: PlacementTestSpec;
}

export interface PlacementTestSpec {
  /** Folder or file with the fleet, relative to the test file. Absent: only `objects`. */
  readonly fleet?: string | undefined;
  /** Objects on top of the fleet; one of the same kind and name replaces the fleet's. */
  readonly objects?: readonly KubeObject[] | undefined;
  /** The current time in the test, RFC 3339. Absent: the start of the run. */
  readonly now?: string | undefined;
  readonly cases: readonly PlacementTestCase[];
}

export interface PlacementTestCase {
  readonly name: string;
  /** `namespace/name` */
  readonly placement: string;
  /** What happens to the fleet after the first decision, in order. */
  readonly given?: readonly GivenStep[] | undefined;
  readonly expect: Expectation;
}

/** Which clusters a step is about: by name, by label, or both together. */
export interface ClusterChoice {
  readonly clusters?: readonly string[] | undefined;
  readonly clusterSelector?: LabelSelector | undefined;
}

/** Exactly one of the fields is set. */
export interface GivenStep {
  readonly loseClusters?: ClusterChoice | undefined;
  /** Copies of a cluster under new names. */
  readonly addClusters?: { readonly like: string; readonly names: readonly string[] } | undefined;
  readonly taint?:
    | (ClusterChoice & { readonly key: string; readonly value?: string; readonly effect: TaintEffect })
    | undefined;
  readonly removeTaint?:
    | (ClusterChoice & { readonly key: string; readonly effect?: TaintEffect })
    | undefined;
  /** Labels to set; null removes. */
  readonly label?: (ClusterChoice & { readonly labels: Readonly<Record<string, string | null>> }) | undefined;
  /** Claims to set; null removes. */
  readonly claim?: (ClusterChoice & { readonly claims: Readonly<Record<string, string | null>> }) | undefined;
  readonly score?:
    | (ClusterChoice & { readonly resourceName: string; readonly scoreName: string; readonly value: number })
    | undefined;
  readonly numberOfClusters?: number | undefined;
  /** Name of a cluster set to bind to the placement's namespace. */
  readonly bindClusterSet?: string | undefined;
  /** Go duration, `90s`, `1h`. */
  readonly passTime?: string | undefined;
}

export interface Expectation {
  /** All of these are selected. */
  readonly selected?: readonly string[] | undefined;
  /** None of these is. */
  readonly notSelected?: readonly string[] | undefined;
  /** These and no others are, in any order. */
  readonly exactly?: readonly string[] | undefined;
  readonly count?: number | undefined;
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
  /** At least this many different values of a label or claim among the selected clusters. */
  readonly spread?:
    | { readonly label?: string; readonly claim?: string; readonly atLeast: number }
    | undefined;
  /** Against the decision before the steps of `given`: the larger of clusters gained and clusters lost. */
  readonly movesAtMost?: number | undefined;
  /** Whether the placement got as many clusters as it asked for. */
  readonly satisfied?: boolean | undefined;
}
