import { type KindInfo, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { identityOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import { BerthError, errorText } from '@berth/runtime/errors';
import { sha256 } from '@berth/runtime/sha256';
import pLimit from 'p-limit';
import type { SourceDeclaration } from '../../../core/preview/sides/merge-sources.ts';
import { withAdoption } from '../../../core/sync/applied/adoption.ts';
import { appliedObjects } from '../../../core/sync/applied/applied-kinds.ts';
import {
  APPLY_SET_PART_OF_LABEL,
  applySetId,
  memberKinds,
  parentOfSource,
  uniqueKinds,
} from '../../../core/sync/apply-set.ts';
import { placeObject } from '../../../core/sync/desired-object.ts';
import { declaredIdentities, possibleIdentities } from '../../../core/sync/plan-prune.ts';
import { ApplySetRegistry } from '../../sources/members/apply-set-registry.ts';
import { ExistingObjects } from '../../sources/members/objects-on-hub.ts';
import type { RefusedOf } from '../held/held-sides.ts';
import { kindScopes } from './kind-scopes.ts';

/** Concurrent requests. */
const CONCURRENCY = 8;
/** If more objects of a kind must be read, one list reads them all. */
const MAX_SINGLE_READS = 20;

/** The objects on a hub of the kinds that a source has, by identity. */
export interface HubMembers {
  /** The objects of the source itself, including those whose deletion is held. */
  readonly own: ReadonlyMap<string, KubeObject>;
  /** The objects of other sources. */
  readonly others: ReadonlySet<string>;
  /** Why objects may be missing here; '' if none is. */
  readonly problem: string;
}

/**
 * The heads (`memberHead`) of the members of all sources, of one kind; undefined if they must be listed.
 */
export type MemberHeads = (kind: KindInfo) => Promise<readonly KubeObject[] | undefined>;

/** What is read of a source on a hub. */
interface ReadMembers {
  readonly source: string;
  /** The objects that Git declares; their kinds are listed as well. */
  readonly objects: readonly KubeObject[];
  /** Whether the head of a member is enough, so that the member itself need not be read. */
  readonly isHeadEnough: (member: KubeObject) => boolean;
  readonly headsOf?: MemberHeads | undefined;
}

/**
 * Reads the objects of a source from the hub: the members of its ApplySet. What cannot be read is reported, and the
 * plan is made without it.
 */
export async function readMembers(
  api: KubeApi,
  { source, objects, isHeadEnough, headsOf }: ReadMembers,
): Promise<HubMembers> {
  const parent = parentOfSource(source);
  const limit = pLimit(CONCURRENCY);
  const id = applySetId(sha256, parent);
  const listKind = async (kind: KindInfo): Promise<readonly KubeObject[]> => {
    const heads = await headsOf?.(kind);
    const isOwn = ({ metadata }: KubeObject): boolean => metadata.labels?.[APPLY_SET_PART_OF_LABEL] === id;
    const bare = heads?.filter((head) => isOwn(head) && !isHeadEnough(head)) ?? [];
    if (heads === undefined || bare.length > MAX_SINGLE_READS)
      return (await api.list(kind, { labelSelector: APPLY_SET_PART_OF_LABEL })).items;
    const whole = new Map<KubeObject, readonly KubeObject[]>();
    for (const head of bare) whole.set(head, await readMember(api, kind, head));
    return heads.flatMap((head) => whole.get(head) ?? head);
  };
  const registry = new ApplySetRegistry({ api, parent, id, limit, listKind });
  try {
    const kinds = uniqueKinds([...memberKinds(await registry.readParent()), ...objects]);
    const { own, others, unlisted } = await registry.listMembers(kinds);
    const problem = unlisted.map(({ resource, error }) => `${resource}: ${errorText(error)}`).join('; ');
    return { own, others: new Set(others.keys()), problem };
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    return { own: new Map(), others: new Set(), problem: errorText(error) };
  }
}

/** Reads one member; empty if it is no member any more. A list needs no other right than reading all members. */
async function readMember(
  api: KubeApi,
  kind: KindInfo,
  { metadata: { namespace, name } }: KubeObject,
): Promise<readonly KubeObject[]> {
  const fieldSelector = `metadata.name=${name}`;
  return (await api.list(kind, { namespace, fieldSelector, labelSelector: APPLY_SET_PART_OF_LABEL })).items;
}

/**
 * Objects of the base that are no members of the source. One that leaves and that the hub has all the same was there
 * before: the controller has not applied the base yet, or has already gone on.
 */
async function asOnHub(
  hub: KubeApi,
  declared: readonly KubeObject[],
  stays: (object: KubeObject) => boolean,
): Promise<readonly KubeObject[]> {
  const existing = new ExistingObjects(hub);
  const leaving = new Set(declared.filter((object) => !stays(object)));
  await existing.prepare([...leaving]);
  return Promise.all(
    declared.map(async (object) => {
      if (!leaving.has(object)) return object;
      try {
        const kind = await hub.resolve(object.apiVersion, object.kind);
        const live = kind && (await existing.read(kind, object));
        return live === undefined ? object : withAdoption(live, live, false);
      } catch (error) {
        if (!(error instanceof BerthError)) throw error;
        return object;
      }
    }),
  );
}

/** The results of `withoutStatus`: consecutive plans ask for the same objects. */
const STATUSLESS = new WeakMap<KubeObject, KubeObject>();

/** A status in Git shows no agent. Only that of clusters is looked at. */
function withoutStatus(object: KubeObject): KubeObject {
  if (object.kind !== MANAGED_CLUSTER.kind || object['status'] === undefined) return object;
  let known = STATUSLESS.get(object);
  if (known === undefined) {
    const { status: _status, ...rest } = object;
    STATUSLESS.set(object, (known = rest));
  }
  return known;
}

/** What the hub has of a source. */
interface SourceMembers {
  readonly members: readonly KubeObject[];
  /** The part of `members` that the base does not declare. */
  readonly left: readonly KubeObject[];
  /** Identities of the objects that other sources have on the hub. */
  readonly elsewhere: ReadonlySet<string>;
  /** Kinds for which it is unknown whether they have namespaces. */
  readonly unknownScopes: ReadonlySet<string>;
  /** See `HubMembers`. */
  readonly problem: string;
}

const NOTHING_ON_HUB = { left: [], elsewhere: new Set<string>(), problem: '' };

/** How the objects of a source on a hub are read. */
export interface MemberReading {
  /** Absent: there is no hub. */
  readonly hub?: KubeApi | undefined;
  readonly headsOf?: MemberHeads | undefined;
  /** Absent: the hub refuses none. */
  readonly refusedOf?: RefusedOf | undefined;
}

/**
 * The objects that the hub has of the source: those that it shows, and those of the base that it does not show yet. One
 * that it refuses is none of them. A hub that shows none does not follow the source yet.
 */
export async function readSourceMembers(
  base: SourceDeclaration,
  head: SourceDeclaration,
  { hub, headsOf, refusedOf }: MemberReading,
): Promise<SourceMembers> {
  const scopeOf = kindScopes(base.objects, head.objects);
  const unknownScopes = new Set<string>();
  const applied = appliedObjects(base.objects, base.kinds);
  const sources = applied.filter(({ object: { kind } }) => kind !== 'PlacementDecision');
  const declaredObjects = sources.map((source) => {
    const object = withoutStatus(source.object);
    const namespaced = scopeOf(object);
    if (namespaced !== undefined) return placeObject(object, { namespaced });
    if (object.metadata.namespace === undefined) unknownScopes.add(object.kind);
    return object;
  });
  const accepted = async (isAbsent: (object: KubeObject) => boolean): Promise<readonly KubeObject[]> => {
    const absent = sources.filter((_, at) => isAbsent(declaredObjects[at] as KubeObject));
    const refused = await refusedOf?.(absent);
    const kept = declaredObjects.filter((_, at) => refused?.has(sources[at] as SourceObject) !== true);
    return kept.filter(isAbsent);
  };
  if (hub === undefined) return { ...NOTHING_ON_HUB, members: await accepted(() => true), unknownScopes };
  const declared = declaredIdentities(applied);
  const inHead = declaredIdentities(head.objects);
  const isDeclared = (member: KubeObject): boolean => declared.has(identityOf(member));
  const staysInGit = (member: KubeObject): boolean => inHead.has(identityOf(member));
  const { own, others, problem } = await readMembers(hub, {
    source: base.name,
    objects: declaredObjects,
    // Git has the content of the objects that the base declares. What happens to those that leave depends on the hub's.
    isHeadEnough: (member) => isDeclared(member) && staysInGit(member),
    headsOf,
  });
  const isShown = (object: KubeObject): boolean =>
    possibleIdentities(object).some((id) => own.has(id) || others.has(id));
  const onHub = [...own.values()];
  const isHidden = (object: KubeObject): boolean => !isShown(object);
  const hidden = onHub.length === 0 ? declaredObjects.filter(isHidden) : await accepted(isHidden);
  return {
    members: [...onHub, ...(await asOnHub(hub, hidden, (object) => inHead.has(identityOf(object))))],
    left: onHub.filter((member) => !isDeclared(member)),
    elsewhere: others,
    ...{ unknownScopes, problem },
  };
}
