import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import type { Toleration } from '@berth/ocm/kind/placement';

/** Names a placement. */
export interface PlacementRef {
  readonly namespace: string;
  readonly name: string;
}

/** A part of a predicate that can be removed. */
export interface PredicatePart {
  /** Index in `spec.predicates`. */
  readonly predicate: number;
  readonly part: 'label' | 'claim' | 'cel';
  /** Key of the requirement, or the CEL expression. */
  readonly key: string;
}

/**
 * One small change of a snapshot, as suggestions propose it and placement tests assume it. Each is
 * a change that a person could commit: a label, a taint, a number.
 */
export type SnapshotChange =
  | { readonly kind: 'set-label'; readonly cluster: string; readonly key: string; readonly value: string }
  | { readonly kind: 'remove-label'; readonly cluster: string; readonly key: string }
  | { readonly kind: 'set-claim'; readonly cluster: string; readonly name: string; readonly value: string }
  | { readonly kind: 'remove-claim'; readonly cluster: string; readonly name: string }
  | { readonly kind: 'add-taint'; readonly cluster: string; readonly taint: Taint }
  | {
      readonly kind: 'remove-taint';
      readonly cluster: string;
      readonly key: string;
      readonly effect?: string | undefined;
    }
  | {
      readonly kind: 'set-score';
      readonly cluster: string;
      readonly resourceName: string;
      readonly scoreName: string;
      readonly value: number;
    }
  | { readonly kind: 'add-cluster'; readonly cluster: ManagedCluster }
  | { readonly kind: 'remove-cluster'; readonly cluster: string }
  | {
      readonly kind: 'set-number-of-clusters';
      readonly placement: PlacementRef;
      readonly numberOfClusters: number;
    }
  | { readonly kind: 'add-toleration'; readonly placement: PlacementRef; readonly toleration: Toleration }
  | { readonly kind: 'add-cluster-set'; readonly placement: PlacementRef; readonly clusterSet: string }
  | { readonly kind: 'drop-predicate-part'; readonly placement: PlacementRef; readonly part: PredicatePart }
  | {
      readonly kind: 'relax-spread';
      readonly placement: PlacementRef;
      readonly topologyKey: string;
    }
  | { readonly kind: 'enable-scheduling'; readonly placement: PlacementRef }
  | { readonly kind: 'bind-cluster-set'; readonly namespace: string; readonly clusterSet: string }
  | { readonly kind: 'pass-time'; readonly seconds: number };
