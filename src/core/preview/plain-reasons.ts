import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { withoutPlacementDefaults } from '@berth/ocm/definition/ocm-crds';
import type { Placement } from '@berth/ocm/kind/placement';
import { findCluster } from '@berth/placement/explain/snapshot/snapshot-lookup';
import type { ClusterVerdict } from '@berth/placement/explain/verdict/explanation';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { APPLIED_HASH_ANNOTATION } from '../sync/applied/adoption.ts';
import { fieldChanges } from './effects/field-changes.ts';
import { valueTexts } from './content-changes.ts';

/*
 * Why a cluster moves, as the person would say it who made the change: `cluster2 is drained`, `numberOfClusters 1 → 2`. The
 * scheduler knows only what it decided (`outranked`). The objects that caused it are known, so what changed in them is said.
 */

const CLUSTER_SET_LABEL = 'cluster.open-cluster-management.io/clusterset';
/** Keys of taints that people set to empty a cluster. `berth plan --drain` sets the first. */
const DRAIN_KEYS: ReadonlySet<string> = new Set(['drain', 'drained', 'draining']);
/** More causes are counted, and so are more differences of one object. */
const [MAX_CAUSES, MAX_DIFFERENCES] = [2, 2] as const;

/** The two states that are compared, and what is known of the move. */
export interface MoveContext {
  readonly before: Snapshot;
  readonly after: Snapshot;
  /** `namespace/name` of the placement that moves. */
  readonly placement: string;
  readonly cluster: string;
  /** The verdict on the cluster after the change. */
  readonly verdict: ClusterVerdict;
}

/**
 * One clause, or undefined where nothing plainer is known than what the scheduler says: `c1 is new`, `label region of c1 is
 * not eu any more, but us`.
 * @param causes as `ManagedCluster cluster1`
 */
export function plainReason(causes: readonly string[], context: MoveContext): string | undefined {
  const [was, is] = [context.before, context.after].map((side) => placementOf(side, context.placement));
  if (was === undefined && is !== undefined) return 'the placement is new';
  const own = `ManagedCluster ${context.cluster}`;
  const ordered = causes.toSorted((a, b) => Number(b === own) - Number(a === own));
  const texts = ordered.slice(0, MAX_CAUSES).map((cause) => causeText(cause, context));
  const known = texts.filter((text) => text !== undefined);
  if (known.length === 0) return undefined;
  const left = causes.length - known.length;
  return [...known, ...(left > 0 ? [`${left} more ${left === 1 ? 'cause' : 'causes'}`] : [])].join(' and ');
}

function causeText(cause: string, context: MoveContext): string | undefined {
  const [kind = '', ref = '', ...rest] = cause.split(' ');
  const { before, after, placement } = context;
  const slash = ref.indexOf('/');
  const [namespace, name] = [ref.slice(0, Math.max(slash, 0)), ref.slice(slash + 1)];
  switch (kind) {
    case 'ManagedCluster':
      return clusterText(ref, findCluster(before, ref), findCluster(after, ref), context);
    case 'Placement':
      if (ref !== placement || rest.length > 0) return cause;
      return placementText(placementOf(before, ref), placementOf(after, ref));
    case 'ManagedClusterSet': {
      const [was, is] = [before, after].map((side) =>
        side.clusterSets.some(({ metadata }) => metadata.name === ref),
      );
      return `cluster set ${ref} ${was === is ? 'is changed' : is === true ? 'is new' : 'is gone'}`;
    }
    case 'ManagedClusterSetBinding': {
      const isThere = after.bindings.some(
        ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
      );
      return isThere
        ? `namespace ${namespace} may use cluster set ${name} now`
        : `namespace ${namespace} may not use cluster set ${name} any more`;
    }
    case 'AddOnPlacementScore':
      return `score ${name} of ${namespace} changes`;
    default:
      return undefined;
  }
}

function placementOf({ placements }: Snapshot, key: string): Placement | undefined {
  return placements.find(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}` === key);
}

/** `numberOfClusters 1 → 2`. A base that is only in Git lacks the defaults of the hub. */
function placementText(was: Placement | undefined, is: Placement | undefined): string | undefined {
  if (was === undefined || is === undefined) return undefined;
  const texts = valueTexts([
    ...fieldChanges(withoutPlacementDefaults(was.spec ?? {}), withoutPlacementDefaults(is.spec ?? {})),
    ...fieldChanges(ownAnnotations(was), ownAnnotations(is)),
  ]);
  return texts.length === 0 ? undefined : limited(texts);
}

function ownAnnotations({ metadata: { annotations = {} } }: Placement): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => key !== APPLIED_HASH_ANNOTATION));
}

function clusterText(
  name: string,
  was: ManagedCluster | undefined,
  is: ManagedCluster | undefined,
  { after, placement, verdict }: MoveContext,
): string | undefined {
  if (was === undefined) return `${name} is new`;
  if (is === undefined) return `${name} is not in the fleet any more`;
  if (is.metadata.deletionTimestamp !== undefined && was.metadata.deletionTimestamp === undefined)
    return `${name} is being deleted`;
  const labels = differences(name, 'label', [was.metadata.labels ?? {}, is.metadata.labels ?? {}]);
  const claims = differences(name, 'claim', [claimsOf(was), claimsOf(is)]);
  const taints = taintTexts(name, was, is);
  // What the placement asks for comes first. A cluster may change in several ways at once.
  const asked = JSON.stringify(placementOf(after, placement)?.spec ?? {});
  const isAsked = ({ key }: Difference): boolean => asked.includes(JSON.stringify(key));
  const named = [...labels, ...claims];
  const sets = named.filter(({ key }) => key === CLUSTER_SET_LABEL);
  const matching = [...named.filter(isAsked), ...sets];
  const texts = (list: readonly Difference[]): readonly string[] => list.map(({ text }) => text);
  const ordered =
    verdict.kind === 'tainted' ? [taints, texts(matching)] : [texts(matching), taints, texts(named)];
  const found = ordered.find((list) => list.length > 0);
  if (found === undefined)
    return jsonEqual(was.status?.allocatable, is.status?.allocatable)
      ? undefined
      : `resources of ${name} change`;
  const [first = '', ...others] = found;
  return limited([first, ...others]);
}

interface Difference {
  readonly key: string;
  readonly text: string;
}

type Values = Readonly<Record<string, string>>;

/** `label region of c1 is not eu any more, but us` */
function differences(
  name: string,
  noun: 'label' | 'claim',
  [was, is]: readonly [was: Values, is: Values],
): readonly Difference[] {
  const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((key) => was[key] !== is[key]);
  return keys.sort().map((key) => ({ key, text: differenceText(name, noun, key, [was[key], is[key]]) }));
}

function differenceText(
  name: string,
  noun: string,
  key: string,
  [was, is]: readonly [was: string | undefined, is: string | undefined],
): string {
  if (key === CLUSTER_SET_LABEL)
    return was === undefined
      ? `${name} is in cluster set ${is ?? ''} now`
      : `${name} is not in cluster set ${was} any more`;
  if (is === undefined) return `${noun} ${key} of ${name} is gone`;
  return was === undefined
    ? `${noun} ${key} of ${name} is ${is} now`
    : `${noun} ${key} of ${name} is not ${was} any more, but ${is}`;
}

function claimsOf({ status }: ManagedCluster): Values {
  return Object.fromEntries((status?.clusterClaims ?? []).map(({ name, value }) => [name, value ?? '']));
}

/** `c1 is drained`, `c1 has the taint maintenance`, `the taint maintenance of c1 is gone` */
function taintTexts(name: string, was: ManagedCluster, is: ManagedCluster): readonly string[] {
  const [old, now] = [taintsOf(was), taintsOf(is)];
  const come = [...now].filter(([taint]) => !old.has(taint));
  const gone = [...old].filter(([taint]) => !now.has(taint));
  return [
    ...come.map(([taint, key]) => `${name} ${DRAIN_KEYS.has(key) ? 'is drained' : `has the taint ${taint}`}`),
    ...gone.map(([taint, key]) =>
      DRAIN_KEYS.has(key) ? `${name} is not drained any more` : `the taint ${taint} of ${name} is gone`,
    ),
  ];
}

/** `key=value`, as kubectl writes taints, and its key. */
function taintsOf({ spec }: ManagedCluster): ReadonlyMap<string, string> {
  const taints = spec?.taints ?? [];
  return new Map(taints.map(({ key, value = '' }) => [value === '' ? key : `${key}=${value}`, key]));
}

function limited(texts: readonly string[]): string {
  const shown = texts.slice(0, MAX_DIFFERENCES).join(', ');
  return texts.length > MAX_DIFFERENCES ? `${shown} and ${texts.length - MAX_DIFFERENCES} more` : shown;
}

/** The reason beside the name of its cluster: `it is drained`, `label region is not eu any more`, `new cluster`. */
export function beside(cluster: string, why: string): string {
  if (why === `${cluster} is new`) return 'new cluster';
  return why.startsWith(`${cluster} `)
    ? `it ${why.slice(cluster.length + 1)}`
    : why.replace(` of ${cluster} `, ' ');
}
