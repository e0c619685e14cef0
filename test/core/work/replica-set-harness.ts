import type { ManifestWorkReplicaSet, RolloutStrategy } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { Condition } from '@berth/kube/model/object-meta';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import { planReplicaSet } from '../../../src/core/work/replica-set/plan-replica-set.ts';
import type {
  ReplicaSetInput,
  ReplicaSetPlan,
  WorkAction,
} from '../../../src/core/work/replica-set/replica-set-plan.ts';
import { replicaSetStatus } from '../../../src/core/work/replica-set/replica-set-status.ts';

export const NOW = '2026-03-01T12:00:00Z';

export function template(value: string): ManifestWorkSpec {
  return {
    workload: {
      manifests: [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'cm', namespace: 'default' },
          data: { value },
        },
      ],
    },
  };
}

export function condition(type: string, status: Condition['status'], observedGeneration = 1): Condition {
  return {
    type,
    status,
    reason: 'Test',
    message: '',
    observedGeneration,
    lastTransitionTime: '2026-03-01T11:00:00Z',
  };
}

/** A replica set with its placements and works, and what the controller would do about them. */
export class ReplicaSetHarness {
  spec = template('1');
  /** Where the template takes more than one work. */
  specs: readonly ManifestWorkSpec[] | undefined;
  refs: { name: string; rolloutStrategy?: RolloutStrategy }[] = [];
  labels: Record<string, string> = {};
  paused = false;
  /** Clusters that are being deleted. */
  readonly going = new Set<string>();
  rules: ReplicaSetInput['rules'] = 'berth';
  name = 'web';
  readonly placements = new Map<string, Placement>();
  readonly decisions = new Map<string, PlacementDecision[]>();
  works: ManifestWork[] = [];

  place(name: string, clusters: readonly string[], strategy?: RolloutStrategy): this {
    if (!this.refs.some((ref) => ref.name === name))
      this.refs.push(strategy === undefined ? { name } : { name, rolloutStrategy: strategy });
    this.placements.set(name, {
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'Placement',
      metadata: { name, namespace: 'team' },
      spec: {},
      status: { numberOfSelectedClusters: clusters.length },
    });
    this.decisions.set(name, [
      {
        apiVersion: 'cluster.open-cluster-management.io/v1beta1',
        kind: 'PlacementDecision',
        metadata: {
          name: `${name}-decision-1`,
          namespace: 'team',
          labels: { 'cluster.open-cluster-management.io/decision-group-index': '0' },
        },
        status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
      },
    ]);
    return this;
  }

  get replicaSet(): ManifestWorkReplicaSet {
    return {
      apiVersion: 'work.open-cluster-management.io/v1alpha1',
      kind: 'ManifestWorkReplicaSet',
      metadata: { name: this.name, namespace: 'team', labels: this.labels },
      spec: { manifestWorkTemplate: this.spec, placementRefs: this.refs },
    };
  }

  plan(): ReplicaSetPlan {
    return planReplicaSet({
      replicaSet: this.replicaSet,
      placements: this.placements,
      decisions: this.decisions,
      children: this.works,
      specsFor: () => ({ ok: true, specs: this.specs ?? [this.spec] }),
      takesWork: (cluster) => !this.going.has(cluster),
      now: NOW,
      nowMs: Date.parse(NOW),
      rules: this.rules,
      paused: this.paused,
    });
  }

  /** Plans, carries out, and says what was done: `create c1/web-…` without the hash. */
  step(): string[] {
    const { actions } = this.plan();
    for (const action of actions) this.carryOut(action);
    return actions.map((action) => {
      const work = action.type === 'create' ? action.work : action.current;
      return `${action.type} ${work.metadata.namespace} ${work.metadata.labels?.['work.open-cluster-management.io/placementname']}`;
    });
  }

  /** Sets conditions on the works of these clusters, for their current generation. */
  report(clusters: readonly string[], conditions: Readonly<Record<string, Condition['status']>>): this {
    this.works = this.works.map((work) => {
      if (!clusters.includes(work.metadata.namespace ?? '')) return work;
      const list = Object.entries(conditions).map(([type, status]) =>
        condition(type, status, work.metadata.generation),
      );
      const applied = list.filter(({ type }) => type === 'Applied');
      const manifests = (work.spec?.workload?.manifests ?? []).map((_manifest, ordinal) => ({
        resourceMeta: { ordinal },
        conditions: applied,
      }));
      return { ...work, status: { conditions: list, resourceStatus: { manifests } } };
    });
    return this;
  }

  status(): Record<string, string> {
    return Object.fromEntries(this.#conditions().map((c) => [c.type, `${c.status} ${c.reason}`]));
  }

  message(type: string): string | undefined {
    return this.#conditions().find((c) => c.type === type)?.message;
  }

  #conditions(): readonly Condition[] {
    const { conditions = [] } = replicaSetStatus(this.replicaSet, this.plan(), {
      now: NOW,
      hold: this.paused ? 'paused' : 'none',
      failure: undefined,
    });
    return conditions;
  }

  private carryOut(action: WorkAction): void {
    if (action.type === 'delete') this.works = this.works.filter((work) => work !== action.current);
    if (action.type === 'create')
      this.works.push({
        ...action.work,
        metadata: { ...action.work.metadata, generation: 1, creationTimestamp: NOW },
      });
    if (action.type === 'update')
      this.works = this.works.map((work) => {
        if (work !== action.current) return work;
        const generation =
          (work.metadata.generation ?? 1) + (action.spec === undefined || action.spec === work.spec ? 0 : 1);
        return {
          ...work,
          metadata: { ...work.metadata, labels: action.labels, generation },
          spec: action.spec ?? work.spec,
        };
      });
  }
}
