import pLimit from 'p-limit';
import { fieldConflicts } from '../../adapters/kube/kube-errors.ts';
import { BerthError, ConflictError, errorText, TransientError } from '../../core/errors.ts';
import type { KindInfo } from '../../core/model/kinds.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import { formatRef, refOf } from '../../core/model/object-ref.ts';
import { formatLocation } from '../../core/model/source-location.ts';
import type { SourceObject } from '../../core/model/source-object.ts';
import type { KubeApi } from '../../core/ports.ts';
import type { Digest } from '../../core/publish/plan-token.ts';
import { RELEASE_ANNOTATION } from '../../core/publish/publish-annotations.ts';
import type { RemovalBudget } from '../../core/publish/removal-budget.ts';
import { inWaves } from '../../core/sync/apply-order.ts';
import {
  APPLY_SET_PART_OF_LABEL,
  applySetId,
  applySetParent,
  type MemberKind,
  memberKinds,
} from '../../core/sync/apply-set.ts';
import { containsAll, desiredObject, isApplied } from '../../core/sync/desired-object.ts';
import { identityOf, planPrune } from '../../core/sync/plan-prune.ts';
import { canonicalJson } from '../../core/model/json-equal.ts';

export interface HubSyncOptions {
  readonly api: KubeApi;
  readonly digest: Digest;
  /** Names the ApplySet: `berth-SOURCE`. */
  readonly source: string;
  readonly namespace: string;
  readonly budget: RemovalBudget;
  readonly force: boolean;
  readonly markPlacements: boolean;
  /** Write recorded status of clusters and scores: only for a hub that has no agents. */
  readonly recordedStatus: boolean;
  /** Make the namespaces that objects need. */
  readonly createNamespaces: boolean;
  readonly concurrency: number;
}

/** What a source says now. */
export interface SyncInput {
  readonly objects: readonly SourceObject[];
  readonly complete: boolean;
}

export interface SyncProblem {
  readonly object: string;
  readonly message: string;
  readonly location: string | undefined;
  readonly retry: boolean;
}

export interface SyncOutcome {
  readonly applied: number;
  readonly unchanged: number;
  readonly pruned: number;
  readonly problems: readonly SyncProblem[];
  readonly pruneHeld: { readonly message: string; readonly token: string } | undefined;
}

const NAMESPACE: KindInfo = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};
const CONFIG_MAP: KindInfo = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

interface Tally {
  applied: number;
  unchanged: number;
  pruned: number;
  readonly problems: SyncProblem[];
}

/** Makes the hub say what Git says: server-side apply of what differs, in dependency order, then deletion of what left Git. */
export class HubSync {
  readonly #options: HubSyncOptions;
  readonly #id: string;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #namespaces = new Set<string>();
  /** Objects that the server stores in other words than they were sent in (quantities, stringData): what it made of them. */
  readonly #stored = new Map<string, string>();

  constructor(options: HubSyncOptions) {
    this.#options = options;
    this.#id = applySetId(options.digest, this.#parentKey());
    this.#limit = pLimit(options.concurrency);
  }

  async sync(input: SyncInput): Promise<SyncOutcome> {
    const { api } = this.#options;
    const tally: Tally = { applied: 0, unchanged: 0, pruned: 0, problems: [] };
    const wanted = input.objects.filter(({ object }) => object.kind !== 'PlacementDecision');
    const parent = await api.get(CONFIG_MAP, this.#parentKey());
    const kinds = uniqueKinds([...memberKinds(parent), ...wanted.map(({ object }) => object)]);
    const members = await this.#listMembers(kinds);
    // Before the first member: a crash in between must not leave members that no parent names.
    await this.#writeParent(parent, [...members.values(), ...wanted.map(({ object }) => object)]);
    for (const wave of inWaves(wanted.map((entry) => ({ ...entry, kind: entry.object.kind }))))
      await Promise.all(wave.map((entry) => this.#limit(() => this.#applyOne(entry, members, tally))));
    const pruneHeld = await this.#prune(input, members, parent, tally);
    return { ...tally, pruneHeld };
  }

  async #applyOne(
    entry: SourceObject,
    members: ReadonlyMap<string, KubeObject>,
    tally: Tally,
  ): Promise<void> {
    try {
      const changed = await this.#applyObject(entry.object, members);
      if (changed) tally.applied += 1;
      else tally.unchanged += 1;
    } catch (error) {
      if (!(error instanceof BerthError)) throw error;
      tally.problems.push(problemOf(entry, error));
    }
  }

  async #applyObject(object: KubeObject, members: ReadonlyMap<string, KubeObject>): Promise<boolean> {
    const { api, force } = this.#options;
    const kind = await this.#requireKind(object);
    const desired = desiredObject(placed(object, kind), { ...this.#options, applySetId: this.#id });
    const id = identityOf(refOf(desired));
    let live = members.get(id);
    let changed = false;
    if (live === undefined || !(isApplied(desired, live) || this.#isStored(id, desired, live))) {
      if (kind.namespaced) await this.#needNamespace(desired.metadata.namespace ?? 'default');
      if (object.kind === 'ManagedCluster') await this.#needNamespace(object.metadata.name);
      live = await api.apply(kind, desired, { fieldManager: 'berth', force });
      this.#stored.set(id, this.#fingerprint(desired, live));
      changed = true;
    }
    return (await this.#writeRecordedStatus(kind, object, live)) || changed;
  }

  /** True when it wrote. */
  async #writeRecordedStatus(kind: KindInfo, object: KubeObject, live: KubeObject): Promise<boolean> {
    const status = object['status'];
    if (!this.#options.recordedStatus || !RECORDED_STATUS_KINDS.has(object.kind) || status === undefined)
      return false;
    if (containsAll(live['status'], status)) return false;
    const key = { namespace: live.metadata.namespace ?? '', name: live.metadata.name };
    await this.#options.api.mergePatch(
      kind,
      key,
      { status },
      { subresource: 'status', fieldManager: 'berth' },
    );
    return true;
  }

  async #prune(
    input: SyncInput,
    members: ReadonlyMap<string, KubeObject>,
    parent: KubeObject | undefined,
    tally: Tally,
  ): Promise<SyncOutcome['pruneHeld']> {
    const { source, budget, digest } = this.#options;
    const wanted = new Set(input.objects.map(({ object }) => identityOf(refOf(object))));
    // As they stand on the hub: see `placed`.
    for (const { object } of input.objects) {
      wanted.add(identityOf({ ...refOf(object), namespace: '' }));
      if (object.metadata.namespace === undefined)
        wanted.add(identityOf({ ...refOf(object), namespace: 'default' }));
    }
    const releasedToken = parent?.metadata.annotations?.[RELEASE_ANNOTATION];
    const all = [...members.values()];
    const plan = planPrune({
      source,
      members: all,
      wanted,
      complete: input.complete,
      budget,
      releasedToken,
      digest,
    });
    if (plan.kind === 'suspended') {
      tally.problems.push({
        object: `source ${source}`,
        message: plan.message,
        location: undefined,
        retry: false,
      });
      return undefined;
    }
    if (plan.kind === 'held') return { message: plan.message, token: plan.token };
    for (const wave of [...inWaves(plan.objects)].reverse())
      await Promise.all(wave.map((object) => this.#limit(() => this.#pruneOne(object, tally))));
    if (plan.objects.length > 0) {
      const pruned = new Set(plan.objects);
      const left = all.filter((member) => !pruned.has(member));
      await this.#writeParent(undefined, [...left, ...input.objects.map(({ object }) => object)]);
    }
    return undefined;
  }

  async #pruneOne(object: KubeObject, tally: Tally): Promise<void> {
    try {
      const kind = await this.#requireKind(object);
      const { namespace = '', name, uid } = object.metadata;
      await this.#options.api.delete(kind, { namespace, name }, { uid, propagationPolicy: 'Background' });
      this.#stored.delete(identityOf(refOf(object)));
      tally.pruned += 1;
    } catch (error) {
      if (!(error instanceof BerthError)) throw error;
      tally.problems.push(problemOf({ object }, error));
    }
  }

  async #listMembers(kinds: readonly MemberKind[]): Promise<Map<string, KubeObject>> {
    const members = new Map<string, KubeObject>();
    const labelSelector = `${APPLY_SET_PART_OF_LABEL}=${this.#id}`;
    const list = async ({ apiVersion, kind }: MemberKind): Promise<void> => {
      const info = await this.#options.api.resolve(apiVersion, kind);
      // A kind that the hub does not serve has no members; applying one says so.
      if (info === undefined) return;
      for (const object of (await this.#options.api.list(info, { labelSelector })).items)
        members.set(identityOf(refOf(object)), object);
    };
    await Promise.all(kinds.map((kind) => this.#limit(() => list(kind))));
    return members;
  }

  async #writeParent(before: KubeObject | undefined, members: readonly KubeObject[]): Promise<void> {
    const parent = applySetParent(this.#parentKey(), this.#id, members);
    if (before !== undefined && containsAll(before, parent)) return;
    await this.#needNamespace(parent.metadata.namespace ?? '', true);
    await this.#options.api.apply(CONFIG_MAP, parent, { fieldManager: 'berth', force: true });
  }

  async #needNamespace(name: string, always = false): Promise<void> {
    if ((!this.#options.createNamespaces && !always) || this.#namespaces.has(name)) return;
    if ((await this.#options.api.get(NAMESPACE, { namespace: '', name })) === undefined) {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      await this.#options.api
        .create(NAMESPACE, namespace, { fieldManager: 'berth' })
        .catch((error: unknown) => {
          // Somebody else was faster.
          if (!(error instanceof ConflictError)) throw error;
        });
    }
    this.#namespaces.add(name);
  }

  async #requireKind(object: KubeObject): Promise<KindInfo> {
    const info = await this.#options.api.resolve(object.apiVersion, object.kind);
    if (info !== undefined) return info;
    throw new TransientError(`the hub does not serve ${object.apiVersion} ${object.kind}`, {
      code: 'sync.kind',
      subject: formatRef(refOf(object)),
      hint: 'install its CustomResourceDefinition on the hub, or take the object out of the source’s paths',
    });
  }

  #isStored(id: string, desired: KubeObject, live: KubeObject): boolean {
    return this.#stored.get(id) === this.#fingerprint(desired, live);
  }

  #fingerprint(desired: KubeObject, live: KubeObject): string {
    const { status: _status, metadata, ...rest } = live;
    const { labels, annotations } = metadata;
    return this.#options.digest(canonicalJson([desired, rest, labels, annotations]));
  }

  #parentKey(): { name: string; namespace: string } {
    return { name: `berth-${this.#options.source}`, namespace: this.#options.namespace };
  }
}

const RECORDED_STATUS_KINDS = new Set(['ManagedCluster', 'AddOnPlacementScore']);

function uniqueKinds(objects: readonly MemberKind[]): readonly MemberKind[] {
  return [
    ...new Map(
      objects.map(({ apiVersion, kind }) => [`${apiVersion}/${kind}`, { apiVersion, kind }]),
    ).values(),
  ];
}

/** As kubectl does: `default` when a namespaced object names no namespace, none for a cluster-scoped one. */
function placed(object: KubeObject, kind: KindInfo): KubeObject {
  if (kind.namespaced)
    return object.metadata.namespace === undefined
      ? { ...object, metadata: { ...object.metadata, namespace: 'default' } }
      : object;
  const { namespace: _namespace, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function problemOf(
  entry: { object: KubeObject; location?: SourceObject['location'] },
  error: BerthError,
): SyncProblem {
  const conflicts = fieldConflicts(error);
  const message =
    conflicts.length > 0
      ? `fields belong to another manager and the source does not say force: ${conflicts.map(({ field, message: why }) => `${field} (${why})`).join('; ')}`
      : errorText(error);
  return {
    object: formatRef(refOf(entry.object)),
    message,
    location: entry.location === undefined ? undefined : formatLocation(entry.location),
    retry: error instanceof TransientError,
  };
}
