import { LeaseNotHeldError } from '@berth/kube/leader-election/lease';
import { type KindInfo, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { identityOf, objectIdentity, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { Clock } from '@berth/runtime/clock/clock';
import { BerthError } from '@berth/runtime/errors';
import { sleep } from '@berth/runtime/loop/sleep';
import pLimit from 'p-limit';
import { RECORDED_STATUS_MANAGER } from '../../../core/registration/health/is-live.ts';
import { withAdoption } from '../../../core/sync/applied/adoption.ts';
import { departuresOf } from '../../../core/sync/applied/departure.ts';
import {
  APPLY_SET_PART_OF_LABEL,
  applySetId,
  memberKinds,
  parentOfSource,
  uniqueKinds,
} from '../../../core/sync/apply-set.ts';
import {
  isApplied,
  isStatusRecorded,
  lacksRecordedStatus,
  placeObject,
} from '../../../core/sync/desired-object.ts';
import type { HubBreak } from '../../../core/sync/hub-position.ts';
import { type LeftField, withoutLeftFields } from '../../../core/sync/left-fields.ts';
import { planIncrement } from '../../../core/sync/plan-increment.ts';
import { possibleIdentities } from '../../../core/sync/plan-prune.ts';
import { plannedApply } from '../../../core/sync/planned-apply.ts';
import { ApplySetRegistry, type SetMembers } from '../members/apply-set-registry.ts';
import { ExistingObjects, requiredKind, unservedAmong } from '../members/objects-on-hub.ts';
import { MemberOwners } from '../members/member-owners.ts';
import {
  isOfKind,
  leftFieldsProblem,
  notServedAmong,
  type SyncInput,
  type SyncOptions,
  type SyncOutcome,
  type SyncProblem,
  syncProblemOf,
  unlistedProblem,
} from '../members/sync-problem.ts';
import { DeletedBeforeRestore } from '../pruning/deleted-before-restore.ts';
import { pruneHub } from '../pruning/hub-prune.ts';
import { type PruneState, recordMemberCount } from '../pruning/prune-state.ts';
import { applyDesired, NamespaceCreator, StoredForms } from './apply-desired.ts';
import type { HubSyncOptions } from './hub-sync-options.ts';
import type { SourceRound } from './sync-together.ts';

interface Tally {
  applied: number;
  unchanged: number;
  readonly problems: SyncProblem[];
}

/** What a full comparison found on the hub. */
interface FoundMembers extends Pick<SetMembers, 'others' | 'unlisted'> {
  readonly members: Map<string, KubeObject>;
  readonly parent: KubeObject | undefined;
}

interface PrunedState {
  /** The objects of the source. */
  readonly objects: readonly KubeObject[];
  readonly state: Omit<PruneState, 'notServed'>;
}

/** What a sync knows of the objects on the hub. */
interface OnHub {
  /** The members of the source; undefined if the hub was not listed. */
  readonly members: ReadonlyMap<string, KubeObject> | undefined;
  /** Reads the others. */
  readonly existing: ExistingObjects;
}

function emptyTally(unchanged: number): Tally {
  return { applied: 0, unchanged, problems: [] };
}

function identitiesOf(wanted: readonly SourceObject[]): ReadonlySet<string> {
  return new Set(wanted.flatMap(({ object }) => possibleIdentities(object)));
}

function leavesAny(members: ReadonlyMap<string, KubeObject>, wanted: readonly SourceObject[]): boolean {
  const declared = identitiesOf(wanted);
  return [...members.keys()].some((identity) => !declared.has(identity));
}

/** The objects whose kinds could be listed. The others become problems. */
function withoutUnlisted(
  wanted: readonly SourceObject[],
  unlisted: FoundMembers['unlisted'],
  { problems }: Tally,
): readonly SourceObject[] {
  const kinds = unlisted.map((kind) => ({ kind, is: isOfKind(kind) }));
  for (const { kind, is } of kinds)
    problems.push(
      unlistedProblem(
        kind,
        wanted.filter(({ object }) => is(object)),
      ),
    );
  return wanted.filter(({ object }) => !kinds.some(({ is }) => is(object)));
}

/**
 * Makes the hub equal to Git: server-side apply of objects that differ, in dependency order, then
 * deletion of objects that were removed from Git.
 */
export class HubSync {
  readonly #options: HubSyncOptions;
  readonly #id: string;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #namespaces: NamespaceCreator;
  readonly #registry: ApplySetRegistry;
  readonly #owners: MemberOwners;
  readonly #deletedBefore: DeletedBeforeRestore;
  readonly #stored: StoredForms;
  /** The content of the source after the last sync without open problems; undefined until then. */
  #complete: readonly SourceObject[] | undefined;

  constructor(options: HubSyncOptions) {
    const { api, digest, source, namespace, concurrency } = options;
    this.#options = options;
    const parent = parentOfSource(source, namespace);
    this.#id = applySetId(digest, parent);
    this.#limit = pLimit(concurrency);
    this.#stored = new StoredForms(digest);
    this.#namespaces = new NamespaceCreator(api);
    this.#registry = new ApplySetRegistry({ api, parent, id: this.#id, limit: this.#limit });
    this.#deletedBefore = new DeletedBeforeRestore(options.readDeleted);
    this.#owners = new MemberOwners({ ...options, id: this.#id, registry: this.#registry });
  }

  /** Whether the last call left nothing open, so that the next state can be applied without a full comparison. */
  get isComplete(): boolean {
    return this.#complete !== undefined;
  }

  /** The state of the hub is unknown, so the next call of `sync` compares everything. */
  compareAllNext(): void {
    this.#complete = undefined;
  }

  /** Whether the object on the hub is a member of this source's ApplySet, and among these objects. */
  declares(object: KubeObject, objects: readonly SourceObject[]): boolean {
    if (object.metadata.labels?.[APPLY_SET_PART_OF_LABEL] !== this.#id) return false;
    const identity = objectIdentity(refOf(object));
    return objects.some((one) => possibleIdentities(one.object).includes(identity));
  }

  /** The hub was restored to an older state, or replaced. */
  hubChanged(how: HubBreak): void {
    this.compareAllNext();
    if (how === 'restored') this.#deletedBefore.hubRestored();
  }

  /** Resolves when a namespace exists that objects of the last call needed, or when the signal aborts. */
  namespaceArrives(names: readonly string[], signal: AbortSignal): Promise<void> {
    return waitForNamespace(this.#options, names, signal);
  }

  /**
   * Compares the hub with the source. `compare: false`: assumes that the hub is unchanged since the last round, so that
   * only changed objects of the source are compared, if these are known.
   * @returns what corrects the differences
   */
  async begin(input: SyncInput, { compare = true, signal }: SyncOptions = {}): Promise<SourceRound> {
    const wanted = this.declare(input);
    const complete = this.#complete;
    this.#complete = undefined;
    const changed = compare || complete === undefined ? undefined : planIncrement(complete, wanted);
    return changed === undefined || changed.length > MAX_READ_ONE_BY_ONE
      ? this.#compareAll(input, wanted, signal)
      : this.#compareChanged(changed, wanted);
  }

  /**
   * Publishes the current content of the source to the other sources of the controller.
   * @returns its objects that belong on the hub
   */
  declare({ objects }: Pick<SyncInput, 'objects'>): readonly SourceObject[] {
    const { declarations, source, isApplied = () => true } = this.#options;
    const wanted = objects.filter(({ object }) => object.kind !== 'PlacementDecision' && isApplied(object));
    declarations.declare(source, wanted, (identity) => this.#owners.owns(identity));
    return wanted;
  }

  #compareChanged(changed: readonly SourceObject[], wanted: readonly SourceObject[]): SourceRound {
    const tally = emptyTally(wanted.length - changed.length);
    const onHub = { members: undefined, existing: new ExistingObjects(this.#options.api) };
    return {
      source: this.#options.source,
      objects: changed,
      apply: (entry) => this.#limit(() => this.#applyOne(entry, onHub, tally)),
      prune: async () => this.#ended({ ...tally, pruned: 0, pruneHeld: undefined, unlisted: [] }, wanted),
    };
  }

  async #compareAll(
    input: SyncInput,
    wanted: readonly SourceObject[],
    signal: AbortSignal | undefined,
  ): Promise<SourceRound> {
    const tally = emptyTally(0);
    const { declarations, source, namespace, api } = this.#options;
    this.#namespaces.forget();
    const parent = await this.#registry.readParent();
    const objects = wanted.map(({ object }) => object);
    const kinds = uniqueKinds([...memberKinds(parent), ...objects]);
    const { own: members, others, unlisted } = await this.#registry.listMembers(kinds);
    this.#owners.listed({ own: members, others });
    // If every object is on the hub already, no source can be late, so a restart does not wait.
    if (declarations.isWaiting && objects.some((object) => this.#owners.isNew(object)))
      await declarations.whenRead(signal);
    await this.#namespaces.ensure(namespace);
    // Written before the first member, so that a crash leaves no member without a parent.
    await this.#registry.writeParent([...members.values(), ...objects], unlisted);
    const known = withoutUnlisted(wanted, unlisted, tally);
    const existing = new ExistingObjects(api);
    const isMember = ({ object }: SourceObject): boolean =>
      possibleIdentities(object).some((id) => members.has(id));
    await existing.prepare(known.filter((one) => !isMember(one)).map(({ object }) => object));
    const found = { members, others, unlisted, parent };
    const before = await this.#beforeApply(input, wanted, found);
    return {
      source,
      objects: known,
      apply: (entry) => this.#limit(() => this.#applyOne(entry, { members, existing }, tally)),
      prune: async (unjudged) => {
        // What left this source may be declared by one that was not read yet.
        if (declarations.isWaiting && leavesAny(members, wanted)) await declarations.whenRead(signal);
        const state = { ...before, others, parent, unjudged, arrives: tally.applied + tally.unchanged > 0 };
        const outcome = await this.#prune(input, { ...found, objects, state }, tally);
        return outcome && this.#ended(outcome, wanted);
      },
    };
  }

  /** The members to judge, and how many there were before the commit. */
  async #beforeApply(input: SyncInput, wanted: readonly SourceObject[], found: FoundMembers) {
    const { members, others, unlisted, parent } = found;
    const restoredMembers = await this.#deletedBefore.among(members.values(), () => identitiesOf(wanted));
    const restored = new Set(departuresOf(restoredMembers).deleted);
    const judged = {
      members: new Map([...members].filter(([, object]) => !restored.has(object))),
      areAll: unlisted.length === 0,
    };
    const parts = { ...this.#options, registry: this.#registry };
    const membersBefore = await recordMemberCount(parts, input.objects, { ...judged, others, parent });
    return { ...judged, restored: [...restored], membersBefore };
  }

  async #prune(
    input: SyncInput,
    { members, unlisted, objects, state }: FoundMembers & PrunedState,
    tally: Tally,
  ): Promise<SyncOutcome | undefined> {
    const { api, isApplied = () => true } = this.#options;
    const left = input.objects.filter(({ object }) => !isApplied(object));
    const parts = { ...this.#options, limit: this.#limit, registry: this.#registry };
    const pruned = await pruneHub(parts, input, {
      ...state,
      notServed: [...notServedAmong(tally.problems), ...(await unservedAmong(api, left))],
    });
    if (pruned === undefined) return undefined;
    const { deleted, withdrawn, problems, ...rest } = pruned;
    const gone = [...deleted, ...withdrawn];
    for (const object of gone) {
      const identity = objectIdentity(refOf(object));
      members.delete(identity);
      this.#owners.drop(identity);
      this.#stored.forget(identity);
    }
    if (gone.length > 0) await this.#registry.writeParent([...members.values(), ...objects], unlisted);
    return {
      ...tally,
      ...rest,
      problems: [...tally.problems, ...problems],
      pruned: deleted.length,
      unlisted,
    };
  }

  #ended(outcome: SyncOutcome, wanted: readonly SourceObject[]): SyncOutcome {
    if (outcome.problems.length === 0 && outcome.pruneHeld === undefined) this.#complete = wanted;
    return outcome;
  }

  async #applyOne(entry: SourceObject, onHub: OnHub, tally: Tally): Promise<void> {
    try {
      const { changed, left } = await this.#applyObject(entry.object, onHub);
      if (changed) tally.applied += 1;
      else tally.unchanged += 1;
      if (left.length > 0) tally.problems.push(leftFieldsProblem(entry, left));
    } catch (error) {
      if (!(error instanceof BerthError) || error instanceof LeaseNotHeldError) throw error;
      tally.problems.push(syncProblemOf(entry, error));
    }
  }

  async #applyObject(
    object: KubeObject,
    { members, existing }: OnHub,
  ): Promise<{ readonly changed: boolean; readonly left: readonly LeftField[] }> {
    const { api, force, takeFields = force } = this.#options;
    const kind = await requiredKind(api, object);
    const placed = placeObject(object, kind);
    const id = identityOf(placed);
    let live = members?.get(id);
    const options = { ...this.#options, applySetId: this.#id, takesFields: takeFields };
    const planned = plannedApply(placed, live, options);
    const { desired, sent } = planned;
    let { left } = planned;
    let changed = false;
    if (
      live === undefined ||
      sent === undefined ||
      !(isApplied(sent, live) || this.#stored.has(id, sent, live))
    ) {
      live ??= await existing.read(kind, placed);
      const fromGit = withAdoption(planned.fromGit, live, takeFields);
      if (members === undefined) this.#owners.recheck(id, live);
      await this.#owners.requireFree(id, object);
      // Set before the request, because a concurrent caller must know it.
      this.#owners.take(id);
      if (this.#options.createNamespaces) await this.#namespaces.ensureFor(kind, desired);
      ({ live, left } = await applyDesired({ api, kind, desired: fromGit, live, force: takeFields }));
      this.#deletedBefore.forget(live);
      const noted = withAdoption(desired, live, takeFields);
      this.#stored.note(id, withoutLeftFields(noted, left) ?? noted, live);
      this.#options.written?.applied(live);
      changed = true;
    }
    const written = await writeRecordedStatus(this.#options, kind, { object, live });
    return { changed: written || changed, left };
  }
}

/**
 * Up to this many changed objects are read one by one before they are written; for more, the hub is
 * listed.
 */
const MAX_READ_ONE_BY_ONE = 200;

/** If more namespaces are missing, they are found when their objects are tried again. */
const MAX_WATCHES = 10;

/** The pause before an existing namespace is reported, because it was missing just before. */
const PAUSE_MS = 1_000;

/**
 * Resolves when one of the namespaces exists on the hub, or when the signal aborts. If namespaces
 * cannot be read, only the signal ends the wait.
 */
async function waitForNamespace(
  { api, clock }: { readonly api: KubeApi; readonly clock: Clock },
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const arrivals = [...new Set(names)].slice(0, MAX_WATCHES).map(async (name) => {
    const fieldSelector = `metadata.name=${name}`;
    const { items, resourceVersion } = await api.list(NAMESPACE, { fieldSelector });
    if (items.length > 0) return sleep(clock, PAUSE_MS, signal);
    for await (const { type } of api.watch(NAMESPACE, { fieldSelector, resourceVersion, signal }))
      if (type === 'added' || type === 'modified') return undefined;
    throw new Error('the watch ended');
  });
  await Promise.any(arrivals).catch(() => aborted(signal));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Writes the status that Git records, on a hub without agents.
 * @returns whether it wrote
 */
async function writeRecordedStatus(
  { api, written, recordedStatus }: Pick<HubSyncOptions, 'api' | 'written' | 'recordedStatus'>,
  kind: KindInfo,
  { object, live }: { readonly object: KubeObject; readonly live: KubeObject },
): Promise<boolean> {
  const status = object['status'];
  if (!recordedStatus || !isStatusRecorded(object.kind)) return false;
  if (!lacksRecordedStatus(live['status'], status)) return false;
  const key = { namespace: live.metadata.namespace ?? '', name: live.metadata.name };
  const options = { subresource: 'status', fieldManager: RECORDED_STATUS_MANAGER } as const;
  written?.applied(await api.mergePatch(kind, key, { status }, options));
  return true;
}
