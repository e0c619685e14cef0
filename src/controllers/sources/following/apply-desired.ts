import { createIfAbsent } from '@berth/kube/create-if-absent';
import {
  type KindInfo,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  typeKeyOf,
  MANAGED_CLUSTER,
  NAMESPACE,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef } from '@berth/kube/model/object-ref';
import { fieldConflicts } from '@berth/kube/transport/kube-errors';
import { CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';
import { ConflictError, InputError } from '@berth/runtime/errors';
import {
  hasTaints,
  TAINTS_FIELD,
  withHubTaintNote,
  withHubTaints,
} from '../../../core/sync/applied/cluster-taints.ts';
import { FIELD_MANAGER } from '../../../core/sync/applied/field-names.ts';
import {
  type JudgedConflicts,
  judgeConflicts,
  type LeftField,
  withoutLeftFields,
} from '../../../core/sync/left-fields.ts';
import { isBeingDeleted } from '../../inventory/cluster-namespaces.ts';
import { readOne } from '../members/objects-on-hub.ts';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import type { Digest } from '../../../core/publish/approval/approval-code.ts';
import { isApplied } from '../../../core/sync/desired-object.ts';

interface ApplyDesired {
  readonly api: KubeApi;
  readonly kind: KindInfo;
  readonly desired: KubeObject;
  /** The object as it was read; undefined if the hub does not have it. */
  readonly live: KubeObject | undefined;
  /** Take fields that other managers own. */
  readonly force: boolean;
}

interface AppliedObject {
  /** The object as the server has it now. */
  readonly live: KubeObject;
  /** Conflicting fields that keep the value of another manager. */
  readonly left: readonly LeftField[];
}

/** What clean-up deletes before a cluster is deleted. */
const CLEANED_UP: ReadonlySet<string> = new Set([MANIFEST_WORK, MANAGED_CLUSTER_ADDON].map(typeKeyOf));

/**
 * Maximum number of attempts: the object may change between two requests, and a response may not
 * name all conflicts (the embedded hub names 100).
 */
const MAX_TRIES = 10;

/**
 * Applies an object from Git: fields without another owner, Berth's own fields that a person
 * changed, and with `force` all fields. Other fields of other managers stay unchanged. The taints
 * of a cluster have several writers, but are one field for the server: if another manager wrote it
 * last, the list is written again with that manager's taints.
 * @throws InputError `sync.cluster-going` when it would be made for a cluster that is being deleted
 * @throws ConflictError when an annotation or label of Berth belongs to another manager, or the
 * object keeps changing
 */
export async function applyDesired(task: ApplyDesired): Promise<AppliedObject> {
  const { kind, desired, live, force } = task;
  if (CLEANED_UP.has(typeKeyOf(kind)) && live === undefined) await refuseForGoingCluster(task);
  if (force) return { live: await applyForced(task, live), left: [] };
  try {
    return { live: await send(task, withHubTaints(desired, live, FIELD_MANAGER)), left: [] };
  } catch (error) {
    if (!(error instanceof ConflictError) || fieldConflicts(error).length === 0) throw error;
    return applyAfterConflict(task, error);
  }
}

/** Clean-up would delete the object again at once, and with it what the agent has just started. */
async function refuseForGoingCluster({ api, kind, desired }: ApplyDesired): Promise<void> {
  const { namespace = '', name } = desired.metadata;
  if (!(await isBeingDeleted(api, namespace))) return;
  throw new InputError(`its cluster ${namespace} is being deleted, so nothing is made for it`, {
    code: 'sync.cluster-going',
    subject: formatRef({ kind: kind.kind, namespace, name }),
    hint: 'remove it from Git, or register the cluster again',
  });
}

async function applyForced(task: ApplyDesired, live: KubeObject | undefined): Promise<KubeObject> {
  const forced = (known: KubeObject | undefined): Promise<KubeObject> => {
    const sent = withHubTaints(task.desired, known, FIELD_MANAGER);
    // Taints are sent with the resourceVersion that they were read from, so that a concurrent
    // change is not lost.
    return send(task, sent, { at: hasTaints(sent) ? known?.metadata.resourceVersion : undefined });
  };
  try {
    return await forced(live);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const now = await readOne(task.api, task.kind, task.desired);
    if (!hasTaints(withHubTaints(task.desired, now, FIELD_MANAGER))) throw error;
    return forced(now);
  }
}

/** After a conflict: decides field by field, on the current object. */
async function applyAfterConflict(task: ApplyDesired, first: ConflictError): Promise<AppliedObject> {
  const names = new Set<string>();
  let conflict = first;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    for (const { field } of fieldConflicts(conflict)) names.add(field);
    const live = await readOne(task.api, task.kind, task.desired);
    if (live === undefined) break;
    const judged = judgeConflicts([...names], task.desired, live, FIELD_MANAGER);
    try {
      const applied = await applyJudged(task, live, judged);
      if (applied !== undefined) return applied;
      break;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      conflict = error;
    }
  }
  throw conflict;
}

/**
 * Applies without all fields in conflict, and then with the fields to take, by force and with the
 * resulting resourceVersion. So it takes no other fields, and a concurrent change is not lost.
 * @returns undefined when a field cannot be left out
 */
async function applyJudged(
  task: ApplyDesired,
  live: KubeObject,
  { taken, left }: JudgedConflicts,
): Promise<AppliedObject | undefined> {
  const merged = withHubTaints(task.desired, live, FIELD_MANAGER);
  const isTaintsLater = task.desired.kind === 'ManagedCluster' && taken.includes(TAINTS_FIELD);
  const first = isTaintsLater ? withHubTaintNote(merged, live, FIELD_MANAGER) : merged;
  const without = withoutLeftFields(first, left, taken);
  if (without === undefined) return undefined;
  const now = await send(task, without);
  if (taken.length === 0) return { live: now, left };
  const whole = withoutLeftFields(withHubTaints(task.desired, now, FIELD_MANAGER), left);
  if (whole === undefined) return undefined;
  return { live: await send(task, whole, { at: now.metadata.resourceVersion }), left };
}

/** @param force take fields of other managers; `at`: only for this version of the object */
function send(
  { api, kind }: ApplyDesired,
  object: KubeObject,
  force?: { readonly at: string | undefined },
): Promise<KubeObject> {
  const resourceVersion = force?.at;
  const sent =
    resourceVersion === undefined ? object : { ...object, metadata: { ...object.metadata, resourceVersion } };
  return api.apply(kind, sent, { fieldManager: FIELD_MANAGER, force: force !== undefined });
}

/** Creates missing namespaces, and remembers existing ones. */
export class NamespaceCreator {
  readonly #api: KubeApi;
  readonly #known = new Map<string, Promise<void>>();

  constructor(api: KubeApi) {
    this.#api = api;
  }

  /** Clears the cache. Called when a namespace may have been deleted. */
  forget(): void {
    this.#known.clear();
  }

  /**
   * Objects that are written at the same time share one request.
   * @param labels the labels of the namespace if it has to be created
   */
  ensure(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const metadata = { name, ...(Object.keys(labels).length > 0 && { labels }) };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata };
    const made = createIfAbsent(this.#api, NAMESPACE, namespace, { fieldManager: 'berth' });
    this.#known.set(name, made);
    made.catch(() => {
      if (this.#known.get(name) === made) this.#known.delete(name);
    });
    return made;
  }

  /** Makes the namespace that an object needs: its own, or that of a cluster. */
  async ensureFor({ namespaced }: KindInfo, { kind, metadata }: KubeObject): Promise<void> {
    if (namespaced) await this.ensure(metadata.namespace ?? 'default');
    if (kind !== MANAGED_CLUSTER.kind) return;
    // With the label of registration; a namespace without it may belong to someone else.
    const { name } = metadata;
    await this.ensure(name, { [CLUSTER_NAME_LABEL]: name });
  }
}

/**
 * What the hub made of objects that it stores in another form than the one that was sent
 * (quantities, `stringData`), so that they are not sent again while they stay as they are. Most
 * objects are stored as sent, and nothing is kept of them.
 */
export class StoredForms {
  readonly #digest: Digest;
  readonly #known = new Map<string, string>();

  constructor(digest: Digest) {
    this.#digest = digest;
  }

  /** @param live the response to the object that was sent */
  note(id: string, sent: KubeObject, live: KubeObject): void {
    if (isApplied(sent, live)) this.#known.delete(id);
    else this.#known.set(id, this.#fingerprint(sent, live));
  }

  /** Whether the live object is what the hub made of the desired one. */
  has(id: string, desired: KubeObject, live: KubeObject): boolean {
    const known = this.#known.get(id);
    return known !== undefined && known === this.#fingerprint(desired, live);
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  #fingerprint(desired: KubeObject, live: KubeObject): string {
    const { status: _status, metadata, ...rest } = live;
    const { labels, annotations } = metadata;
    return this.#digest(canonicalJson([desired, rest, labels, annotations]));
  }
}
