import { BerthError } from '@berth/runtime/errors';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { identityOf } from '@berth/kube/model/object-ref';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { SourceDeclaration } from '../../../core/preview/sides/merge-sources.ts';
import { withAdoption } from '../../../core/sync/applied/adoption.ts';
import { appliedObjects } from '../../../core/sync/applied/applied-kinds.ts';
import { placeObject } from '../../../core/sync/place-object.ts';
import { possibleIdentities } from '../../../core/sync/plan-prune.ts';
import { ExistingObjects } from '../../sources/members/existing-objects.ts';
import { declaredIdentities } from './declared-identities.ts';
import { kindScopes } from './kind-scopes.ts';
import { type MemberHeads, readMembers } from './read-members.ts';

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

/** A status in Git shows no agent. Only that of clusters is looked at. */
function withoutStatus(object: KubeObject): KubeObject {
  if (object.kind !== MANAGED_CLUSTER.kind || object['status'] === undefined) return object;
  const { status: _status, ...rest } = object;
  return rest;
}

/** What the hub has of a source. */
export interface SourceMembers {
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

/** The objects that the hub has of the source: those that it shows, and those of the base that it does not show yet. */
export async function readSourceMembers(
  base: SourceDeclaration,
  head: SourceDeclaration,
  { hub, headsOf }: { readonly hub?: KubeApi | undefined; readonly headsOf?: MemberHeads | undefined },
): Promise<SourceMembers> {
  const scopeOf = kindScopes([...base.objects, ...head.objects].map(({ object }) => object));
  const unknownScopes = new Set<string>();
  const applied = appliedObjects(base.objects, base.kinds);
  const declaredObjects = applied
    .map(({ object }) => object)
    .filter(({ kind }) => kind !== 'PlacementDecision')
    .map(withoutStatus)
    .map((object) => {
      const namespaced = scopeOf(object);
      if (namespaced !== undefined) return placeObject(object, { namespaced });
      if (object.metadata.namespace === undefined) unknownScopes.add(object.kind);
      return object;
    });
  if (hub === undefined)
    return { members: declaredObjects, left: [], elsewhere: new Set(), unknownScopes, problem: '' };
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
  const hidden = declaredObjects.filter((object) => !isShown(object));
  return {
    members: [...onHub, ...(await asOnHub(hub, hidden, (object) => inHead.has(identityOf(object))))],
    left: onHub.filter((member) => !isDeclared(member)),
    elsewhere: others,
    ...{ unknownScopes, problem },
  };
}
