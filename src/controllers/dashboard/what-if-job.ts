import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { InputError } from '@berth/runtime/errors';
import type { Plan } from '../../core/preview/plan.ts';
import type { SideDecider } from '../../core/preview/sides/side-decider.ts';
import type { WhatIf } from '../../core/preview/what-if/apply-what-if.ts';
import { parseWhatIf, type WhatIfFlag } from '../../core/preview/what-if/parse-what-if.ts';
import type { RemovalBudget } from '../../core/publish/judge/removal-budget.ts';
import type { CompactRecord } from '../../core/publish/record/compact-record.ts';
import { planContents } from '../previews/plan-contents.ts';

/** An assumption as the address of the page gives it: a flag of `berth plan` and its value, or `add` and a number. */
export interface Assumed {
  readonly flag: WhatIfFlag | 'add';
  readonly value: string;
}

/** What a what-if is planned on. Plain data, so that another thread can plan it. */
export interface WhatIfJob {
  readonly assumed: readonly Assumed[];
  /** A cluster that added ones are like; undefined: the first. */
  readonly like: string | undefined;
  readonly decides: 'own' | 'all';
  /** By placement (`namespace/name`). */
  readonly budgets: ReadonlyMap<string, RemovalBudget>;
  readonly records: ReadonlyMap<string, readonly CompactRecord[]>;
  readonly notes: readonly string[];
}

const NOTES = [
  'Applications and add-ons are not computed here: berth plan with the same assumption and --hub does that.',
];

/**
 * What the assumptions change on the hub as it is: the same plan as `berth plan --drain …` makes.
 * @param workloads what the sources declare beside placements
 * @throws InputError for an assumption that cannot be made
 */
export function planWhatIf(
  { assumed, like, decides, budgets, records, notes }: WhatIfJob,
  hub: Snapshot,
  { workloads, decider }: { readonly workloads: readonly SourceObject[]; readonly decider: SideDecider },
): Plan {
  const fleet = { objects: workloads };
  const { plan } = planContents({
    base: { fleet, end: { name: 'now' } },
    head: { fleet, end: { name: 'what if' } },
    ...{ now: hub.now, hub, decides, decider },
    whatIf: assumed.flatMap((one) => whatIfsOf(one, hub, like)),
    recordsOf: (placement) => records.get(placement) ?? [],
    budgetOf: ({ metadata }) => budgets.get(namespacedName(metadata)),
  });
  return { ...plan, notEvaluated: [...notes, ...NOTES, ...plan.notEvaluated] };
}

/** More would make the question unanswerable in time. */
const MAX_ADDED = 1_000;

function whatIfsOf({ flag, value }: Assumed, hub: Snapshot, like: string | undefined): readonly WhatIf[] {
  if (flag !== 'add')
    return [parseWhatIf(flag, flag === 'drain' || flag === 'lose' ? targetOf(value) : value)];
  const count = Number(value);
  const fail = (problem: string): InputError =>
    new InputError(problem, { code: 'plan.what-if', subject: `add ${value}` });
  if (!/^\d{1,4}$/.test(value) || count < 1 || count > MAX_ADDED)
    throw fail(`expected a number of clusters from 1 to ${MAX_ADDED}`);
  const model = hub.clusters.find(({ metadata }) => like === undefined || metadata.name === like);
  if (model === undefined)
    throw fail(
      like === undefined ? 'there is no cluster that they could be like' : `there is no cluster ${like}`,
    );
  const known = new Set(hub.clusters.map(({ metadata }) => metadata.name));
  return Array.from({ length: count }, (_, at): WhatIf => {
    const cluster = copyOf(model, `${model.metadata.name}-new${at + 1}`);
    if (known.has(cluster.metadata.name)) throw fail(`there is a cluster ${cluster.metadata.name} already`);
    const text = `add ${cluster.metadata.name}, like ${model.metadata.name}`;
    return { text, assumption: { kind: 'add-cluster', cluster } };
  });
}

/** Without the taints: a cluster that is in trouble is no model of a new one. */
function copyOf({ metadata, spec, status }: ManagedCluster, name: string): ManagedCluster {
  const { labels, annotations } = metadata;
  return {
    ...{ apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' },
    metadata: { name, ...(labels && { labels: { ...labels, name } }), ...(annotations && { annotations }) },
    ...{ spec: { ...spec, taints: [] }, status },
  };
}

/** In an address `region:eu` is easier to write than `region=eu`. */
function targetOf(value: string): string {
  return value.includes('=') ? value : value.replace(':', '=');
}
