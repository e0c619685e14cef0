import type { CelJsonMap } from '@berth/kube-cel/value/cel-value';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { namespacedName } from '@berth/kube/model/object-ref';
import { regionOf } from '../planned-fleet.ts';
import type { ClusterMove, Plan, PlacementPlan } from '../plan.ts';
import type { PlanSide } from '../plan-input.ts';

/** The input of rules: a plan and its two sides. */
export interface JudgedPlan {
  readonly plan: Plan;
  readonly base: Pick<PlanSide, 'snapshot' | 'results'>;
  readonly head: Pick<PlanSide, 'snapshot' | 'results'>;
}

/** Finds a placement by `namespace/name`, including unchanged ones; undefined if it is on neither side. */
export type FindPlacement = (key: string) => CelJsonMap | undefined;

/** The key under which `plan.placement(…)` finds placements. A symbol, so that no expression can read it as a field. */
export const PLAN_PLACEMENTS = Symbol('placements of the plan');

/** The variable `plan` of rules. docs/preview.md lists its fields. Each field is computed when it is read. */
export function planView(judged: JudgedPlan): CelJsonMap {
  const { plan } = judged;
  const clusters = new ClusterViews(judged);
  const moved = (list: 'added' | 'removed') => (): readonly CelJsonMap[] =>
    plan.placements.flatMap((placement) =>
      placement[list].map((move) => movedView(move, placement, clusters)),
    );
  const fields = {
    summary: () => ({ ...plan.summary }),
    added: moved('added'),
    removed: moved('removed'),
    moves: () =>
      plan.placements.flatMap((placement) =>
        placement.moves.map(({ from, to, because, causes, margin }) => ({
          placement: namespacedName(placement),
          from: clusters.of(from),
          to: clusters.of(to),
          because,
          causes,
          held: placement.held !== undefined,
          ...(margin === undefined ? {} : { margin }),
        })),
      ),
    placements: () => plan.placements.map((placement) => changedView(placement, clusters)),
    workloads: () => plan.workloads.map((workload) => ({ ...workload })),
    applications: () =>
      plan.applications.flatMap(({ namespace, name, applications }) =>
        applications.map((application) => ({ ...application, applicationSet: `${namespace}/${name}` })),
      ),
    objects: () =>
      plan.objects.map(({ change, ref, fields: changed }) => ({ ...ref, change, fields: changed })),
    findings: () =>
      plan.findings.map(({ code, severity, subject, message }) => ({ code, severity, subject, message })),
    whatIf: () => plan.whatIf,
  };
  return Object.assign(lazily(fields), { [PLAN_PLACEMENTS]: placementFinder(judged, clusters) });
}

/** An object whose fields are computed once, when they are first read. */
function lazily(fields: Readonly<Record<string, () => unknown>>): CelJsonMap {
  const view = {};
  for (const [name, make] of Object.entries(fields)) {
    let known: unknown;
    Object.defineProperty(view, name, { enumerable: true, get: () => (known ??= make()) });
  }
  return view;
}

class ClusterViews {
  readonly #clusters = new Map<string, ManagedCluster>();
  readonly #sets: ReadonlyMap<string, readonly string[]>;
  readonly #views = new Map<string, CelJsonMap>();

  constructor({ plan, base, head }: JudgedPlan) {
    this.#sets = new Map(plan.fleet.map(({ name, sets }) => [name, sets]));
    for (const { snapshot } of [base, head])
      for (const cluster of snapshot.clusters) this.#clusters.set(cluster.metadata.name, cluster);
  }

  of(name: string): CelJsonMap {
    const known = this.#views.get(name);
    if (known !== undefined) return known;
    const cluster = this.#clusters.get(name);
    const view = {
      name,
      labels: cluster?.metadata.labels ?? {},
      sets: this.#sets.get(name) ?? [],
      region: this.region(name),
    };
    this.#views.set(name, view);
    return view;
  }

  /** '' if unknown. */
  region(name: string): string {
    const cluster = this.#clusters.get(name);
    return (cluster && regionOf(cluster)) ?? '';
  }

  /** The number of known regions of these clusters. */
  regions(names: readonly string[]): number {
    return new Set(names.map((name) => this.region(name)).filter((region) => region !== '')).size;
  }
}

function movedView(move: ClusterMove, placement: PlacementPlan, clusters: ClusterViews): CelJsonMap {
  return {
    placement: namespacedName(placement),
    cluster: clusters.of(move.cluster),
    because: move.because,
    causes: move.causes,
    held: placement.held !== undefined,
  };
}

interface Sides {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

function sidesView({ before, after }: Sides, clusters: ClusterViews): CelJsonMap {
  return {
    before,
    after,
    clusters: after.map((name) => clusters.of(name)),
    regions: clusters.regions(after),
    regionsBefore: clusters.regions(before),
  };
}

function changedView(placement: PlacementPlan, clusters: ClusterViews): CelJsonMap {
  const { namespace, name, change, definitionChanged, added, removed, kept, held } = placement;
  const before = placement.before?.clusters ?? [];
  const after = placement.after?.clusters ?? [];
  return {
    ...sidesView({ before, after }, clusters),
    namespace,
    name,
    change,
    definitionChanged,
    affectedBy: placement.affectedBy,
    held: held !== undefined,
    added: added.map(({ cluster }) => cluster),
    removed: removed.map(({ cluster }) => cluster),
    kept,
  };
}

function placementFinder({ plan, head }: JudgedPlan, clusters: ClusterViews): FindPlacement {
  let changed: ReadonlyMap<string, PlacementPlan> | undefined;
  return (key) => {
    changed ??= new Map(plan.placements.map((placement) => [namespacedName(placement), placement]));
    const placement = changed.get(key);
    if (placement !== undefined) return changedView(placement, clusters);
    const result = head.results.find((one) => namespacedName(one.placement.metadata) === key);
    if (result === undefined) return undefined;
    const { selected } = result;
    return {
      ...sidesView({ before: selected, after: selected }, clusters),
      namespace: result.placement.metadata.namespace ?? '',
      name: result.placement.metadata.name,
      change: 'unchanged',
      definitionChanged: false,
      affectedBy: [],
      held: false,
      added: [],
      removed: [],
      kept: selected.length,
    };
  };
}
