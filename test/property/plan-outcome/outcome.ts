import { REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Plan } from '../../../src/core/preview/plan.ts';
import { parentOfSource } from '../../../src/core/sync/apply-set.ts';
import { SOURCES } from './files.ts';
import type { HubObjects } from './hub-view.ts';

/** What a hub shows, and what a plan says that it will show. */
export interface Outcome {
  /** By name. */
  readonly placements: Readonly<Record<string, PlacementOutcome>>;
  /** `OWNER CLUSTER`, sorted: an owner is a replica set, or the work itself. */
  readonly works: readonly string[];
  /** The codes of held deletions, by source. */
  readonly deletionsHeld: Readonly<Record<string, string>>;
}

interface PlacementOutcome {
  /** Sorted. */
  readonly clusters: readonly string[];
  /** `REASON TOKEN` */
  readonly held: string | undefined;
}

const NAMESPACE = 'team-a';

export function outcomeOf({ placements: all, decisions, works, configMaps }: HubObjects): Outcome {
  const placements: Record<string, PlacementOutcome> = {};
  for (const { metadata, status } of all as unknown as readonly Placement[]) {
    const hold = status?.conditions?.find(
      ({ type, status: is }) => type === 'berth.dev/Held' && is === 'True',
    );
    const clusters = decisions.flatMap((page) => clustersOn(page, metadata.name)).toSorted();
    const code = /--token ([0-9a-f]{12})/.exec(hold?.message ?? '')?.[1] ?? '';
    placements[metadata.name] = { clusters, held: hold && `${hold.reason} ${code}` };
  }
  const owners = works.map(({ metadata }) => {
    const owner = metadata.labels?.[REPLICA_SET_LABEL]?.replace('.', '/');
    return `${owner ?? metadata.name} ${metadata.namespace}`;
  });
  const deletionsHeld: Record<string, string> = {};
  for (const { name } of SOURCES) {
    const key = namespacedName(parentOfSource(name));
    const parent = configMaps.find(({ metadata }) => namespacedName(metadata) === key);
    const code = parent?.metadata.annotations?.['berth.dev/held-token'] ?? '';
    if (code !== '') deletionsHeld[name] = code;
  }
  return { placements, works: [...new Set(owners)].sort(), deletionsHeld };
}

/** The clusters that a page lists, if it is one of the placement's. */
function clustersOn({ metadata, status }: KubeObject, placement: string): readonly string[] {
  if (metadata.namespace !== NAMESPACE || metadata.labels?.[PLACEMENT_LABEL] !== placement) return [];
  const { decisions = [] } = (status ?? {}) as { readonly decisions?: readonly { clusterName: string }[] };
  return decisions.map(({ clusterName }) => clusterName);
}

export function expectedAfter(before: Outcome, plan: Plan): Outcome {
  return {
    placements: placementsAfter(before.placements, plan),
    works: worksAfter(before.works, plan),
    deletionsHeld: deletionsHeldAfter(before.deletionsHeld, plan),
  };
}

function deletionsHeldAfter(before: Outcome['deletionsHeld'], plan: Plan): Outcome['deletionsHeld'] {
  const held = plan.deletionsHeld.map(({ source, token: code }) => [source, code] as const);
  // While a file of a source cannot be read nothing of it is judged, and what was held before is.
  const isJudged = (source: string): boolean =>
    !plan.notEvaluated.some((note) => note.startsWith(`Source ${source} deletes nothing`));
  const waiting = plan.waiting.flatMap(({ kind, subject }) => (kind === 'deletions' ? [subject] : []));
  const stays = Object.entries(before).filter(([source]) => waiting.includes(source) || !isJudged(source));
  return Object.fromEntries([...stays, ...held]);
}

function placementsAfter(before: Outcome['placements'], plan: Plan): Outcome['placements'] {
  const waiting = new Set(
    plan.waiting.flatMap((one) => (one.kind === 'hold' && one.isChanged !== true ? [one.subject] : [])),
  );
  // Of a placement that the plan does not name nothing is held, unless it says that a hold waits.
  const after: Record<string, PlacementOutcome> = Object.fromEntries(
    Object.entries(before).map(([name, { clusters, held }]) => [
      name,
      { clusters, held: waiting.has(`${NAMESPACE}/${name}`) ? held : undefined },
    ]),
  );
  for (const { name, change, added, removed, held, token: code, ...sides } of plan.placements) {
    // Somebody deleted it, and its pages stayed.
    const returning = [...(sides.before?.clusters ?? [])].toSorted();
    const stays = before[name]?.clusters ?? returning;
    const gone = new Set(removed.map((move) => move.cluster));
    const clusters = [
      ...stays.filter((one) => !gone.has(one)),
      ...added.map((move) => move.cluster),
    ].toSorted();
    if (change === 'deleted') delete after[name];
    else
      after[name] =
        held === undefined
          ? { clusters, held: waiting.has(`${NAMESPACE}/${name}`) ? before[name]?.held : undefined }
          : { clusters: stays, held: `${held.reason} ${code}` };
  }
  return after;
}

function worksAfter(before: readonly string[], plan: Plan): readonly string[] {
  const works = new Set(before);
  for (const { kind, namespace, name, added, removed } of plan.workloads) {
    const owner = kind === 'ManifestWork' ? name : `${namespace}/${name}`;
    for (const cluster of removed) works.delete(`${owner} ${cluster}`);
    for (const cluster of added) works.add(`${owner} ${cluster}`);
  }
  return [...works].sort();
}

/** By placement: the clusters that it lists, and why its next ones are held. */
type Listed = Readonly<
  Record<string, { readonly clusters: readonly string[]; readonly held: string | undefined }>
>;

/** A plan gives no codes of what is held later. */
export function withoutCodes({ placements }: Pick<Outcome, 'placements'>): Listed {
  return Object.fromEntries(
    Object.entries(placements).map(([name, { clusters, held }]) => [
      name,
      { clusters, held: held?.split(' ')[0] },
    ]),
  );
}

/** What is held may not be due any more later: a plan says what is held at the merge, and not until when. */
export function withoutEndedHolds(found: Listed, planned: Listed, later: Plan['later']): Listed {
  const entries = Object.entries(found).map(([name, one]) => {
    const isEnded = one.held === undefined && !later.some((change) => change.name === name);
    return [name, isEnded ? { ...one, held: planned[name]?.held } : one] as const;
  });
  return Object.fromEntries(entries);
}

/** What placements list when everything has happened that a plan says of later. */
export function listedLater(planned: Outcome, later: Plan['later']): Listed {
  const listed = { ...withoutCodes(planned) };
  for (const { name, added, removed, held } of later) {
    const clusters = listed[name]?.clusters ?? [];
    // It only keeps what it would lose without the merge.
    if (held === undefined && added.length + removed.length === 0) continue;
    listed[name] =
      held === undefined
        ? { clusters: [...clusters.filter((one) => !removed.includes(one)), ...added].toSorted(), held }
        : { clusters, held };
  }
  return listed;
}
