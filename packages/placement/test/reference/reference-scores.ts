import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Placement, ScoreCoordinate } from '@berth/ocm/kind/placement';
import { parseQuantity, quantityToNumber } from '@berth/kube/model/quantity';
import { compareInstants, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { Instant } from '@berth/kube/model/rfc3339';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { byText, ownValue } from './reference-filters.ts';

/** Section 4 of the rules, read literally. */

export interface Prioritizer {
  readonly name: string;
  readonly weight: number;
  readonly coordinate: ScoreCoordinate;
  /** What counts where an add-on gives no valid score: the annotation berth.dev/missing-scores. */
  readonly missing: string;
}

const BUILT_IN = ['Balance', 'Steady', 'ResourceAllocatableCPU', 'ResourceAllocatableMemory'];

/** The prioritizers with a weight other than 0, sorted by name, or what is wrong with the policy. */
export function readPrioritizers(placement: Placement): Prioritizer[] | string {
  const policy = placement.spec?.prioritizerPolicy ?? {};
  const mode = policy.mode ?? '';
  if (!['', 'Additive', 'Exact'].includes(mode)) return `incorrect prioritizer policy mode: ${mode}`;
  const missing = ownValue(placement.metadata.annotations, 'berth.dev/missing-scores') ?? 'neutral';
  const builtIn = (name: string, weight: number): Prioritizer => ({
    name,
    weight,
    coordinate: { type: 'BuiltIn', builtIn: name },
    missing,
  });
  const byName = new Map<string, Prioritizer>();
  if (mode !== 'Exact') {
    byName.set('Balance', builtIn('Balance', 1));
    byName.set('Steady', builtIn('Steady', 1));
  }
  for (const { scoreCoordinate: coordinate, weight = 0 } of policy.configurations ?? []) {
    if (coordinate === undefined) return 'scoreCoordinate field is required';
    const name = coordinateName(coordinate);
    byName.set(name, { name, weight, coordinate, missing });
  }
  const wanted = [...byName.values()].filter(({ weight }) => weight !== 0);
  wanted.sort((left, right) => byText(left.name, right.name));
  for (const { coordinate } of wanted) {
    const problem = coordinateProblem(coordinate);
    if (problem !== undefined) return problem;
  }
  return wanted;
}

function coordinateName(coordinate: ScoreCoordinate): string {
  if (coordinate.type !== 'AddOn') return coordinate.builtIn ?? '';
  return `AddOn/${coordinate.addOn?.resourceName ?? ''}/${coordinate.addOn?.scoreName ?? ''}`;
}

function coordinateProblem(coordinate: ScoreCoordinate): string | undefined {
  if (coordinate.type === 'AddOn')
    return coordinate.addOn === undefined ? 'addOn should not be empty' : undefined;
  return BUILT_IN.includes(coordinate.builtIn ?? '')
    ? undefined
    : `incorrect builtin prioritizer: ${coordinate.builtIn ?? ''}`;
}

export interface Scored {
  readonly scores: Map<string, number>;
  /** `namespace/name` of expired AddOnPlacementScores. */
  readonly expired: string[];
}

export function scoreClusters(
  snapshot: Snapshot,
  prioritizer: Prioritizer,
  clusters: ManagedCluster[],
  history: { readonly others: readonly string[]; readonly own: ReadonlySet<string> },
): Scored {
  const { coordinate } = prioritizer;
  if (coordinate.type === 'AddOn') return scoreByAddOn(snapshot, prioritizer, clusters);
  const scores = new Map<string, number>();
  if (coordinate.builtIn === 'Steady')
    for (const { metadata } of clusters) scores.set(metadata.name, history.own.has(metadata.name) ? 100 : 0);
  else if (coordinate.builtIn === 'Balance') scoreByBalance(clusters, history.others, scores);
  else scoreByResource(clusters, coordinate.builtIn === 'ResourceAllocatableCPU' ? 'cpu' : 'memory', scores);
  return { scores, expired: [] };
}

function scoreByBalance(
  clusters: ManagedCluster[],
  others: readonly string[],
  scores: Map<string, number>,
): void {
  const counts = new Map<string, number>();
  for (const name of others) counts.set(name, (counts.get(name) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  for (const { metadata } of clusters) {
    const count = counts.get(metadata.name) ?? 0;
    scores.set(metadata.name, most === 0 ? 100 : 2 * Math.trunc(100 * (0.5 - count / most)));
  }
}

function scoreByResource(clusters: ManagedCluster[], resource: string, scores: Map<string, number>): void {
  const amounts = new Map<string, number>();
  for (const cluster of clusters) {
    const allocatable = amountOf(cluster.status?.allocatable, resource);
    if (allocatable === undefined || amountOf(cluster.status?.capacity, resource) === undefined) continue;
    amounts.set(cluster.metadata.name, allocatable);
  }
  const [least, most] = [Math.min(...amounts.values()), Math.max(...amounts.values())];
  for (const [name, amount] of amounts) {
    const score = most === least ? 100 : Math.trunc(((amount - least) / (most - least) - 0.5) * 2 * 100);
    scores.set(name, score);
  }
}

function amountOf(
  resources: Readonly<Record<string, string | number>> | undefined,
  name: string,
): number | undefined {
  const text = ownValue(resources as Record<string, string> | undefined, name);
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity === undefined ? undefined : quantityToNumber(quantity);
}

function scoreByAddOn(
  snapshot: Snapshot,
  { coordinate, missing, weight }: Prioritizer,
  clusters: ManagedCluster[],
): Scored {
  const { resourceName = '', scoreName = '' } = coordinate.addOn ?? {};
  const now = parseRfc3339(snapshot.now) as Instant;
  const scores = new Map<string, number>();
  const expired: string[] = [];
  for (const { metadata } of clusters) {
    const fallback = missing === 'worst' ? (weight > 0 ? -100 : 100) : 0;
    scores.set(metadata.name, fallback);
    const object = snapshot.scores.findLast(
      (score) => score.metadata.namespace === metadata.name && score.metadata.name === resourceName,
    );
    const validUntil = parseRfc3339(object?.status?.validUntil ?? '');
    if (validUntil !== undefined && compareInstants(validUntil, now) < 0) {
      expired.push(`${metadata.name}/${resourceName}`);
      if (missing !== 'last') continue;
    }
    for (const score of object?.status?.scores ?? [])
      if (score.name === scoreName) scores.set(metadata.name, score.value);
  }
  return { scores, expired };
}
