import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, CONTROLLER_REVISION } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { takesWork } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import {
  type ManifestWorkReplicaSet,
  type ManifestWorkReplicaSetStatus,
  REPLICA_SET_FINALIZER,
  REPLICA_SET_LABEL,
} from '@berth/ocm/kind/manifest-work-replica-set';
import type { Clock } from '@berth/runtime/clock/clock';
import { ConflictError, errorText, BerthError } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Logger } from '@berth/runtime/logger';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import { formatNameList } from '@berth/runtime/text/name-list';
import type { RolloutRules } from '../../core/rollout/rollout-plan.ts';
import { clusterSpecs } from '../../core/work/replica-set/substitute-cluster.ts';
import { planReplicaSet } from '../../core/work/replica-set/plan-replica-set.ts';
import { ownerLabelValue } from '../../core/work/replica-set/replica-set-child.ts';
import type { ReplicaSetPlan, WorkAction } from '../../core/work/replica-set/replica-set-plan.ts';
import {
  replicaSetStatus,
  type RolloutHold,
  yieldedConditions,
} from '../../core/work/replica-set/replica-set-status.ts';
import {
  effectiveTemplate,
  readRolloutControl,
  ROLLED_BACK_ANNOTATION,
  type RolloutControl,
  LAST_GOOD_ANNOTATION,
} from '../../core/work/replica-set/rollout-control.ts';
import { StatusRivals } from '../../core/work/replica-set/status-rivals.ts';
import type { MissingNamespaces } from '../inventory/cluster-namespaces.ts';
import type { WorkInventory } from './work-inventory.ts';
import { type WorkWritten, writeWorks } from './write-works.ts';

export interface ReplicaSetReconcilerOptions {
  readonly hub: KubeApi;
  readonly inventory: WorkInventory;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rules: RolloutRules;
  /** Concurrent writes for one replica set. */
  readonly writeConcurrency: number;
  readonly namespaces: MissingNamespaces;
  readonly onWrite?: ((event: WorkWritten) => void) | undefined;
  /** Called when Berth leaves the replica set (`namespace/name`) to another controller that writes it. */
  readonly onYield?: ((key: string) => void) | undefined;
  /** Called when Berth handles the replica set again. */
  readonly onResume?: ((key: string) => void) | undefined;
}

const FIELD_MANAGER = { fieldManager: 'berth-works' } as const;

/**
 * One pass over one replica set: ordered steps, and one status patch. The state comes from the inventory, except before
 * a deletion.
 */
export class ReplicaSetReconciler {
  readonly #options: ReplicaSetReconcilerOptions;
  readonly #rivals = new StatusRivals();
  readonly #reported = new Set<string>();

  constructor(options: ReplicaSetReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const replicaSet = this.#options.inventory.replicaSet(key);
    if (replicaSet === undefined) {
      this.#rivals.forget(key);
      return DONE;
    }
    if (replicaSet.metadata.deletionTimestamp !== undefined) return this.#finalize(replicaSet);
    if (!(replicaSet.metadata.finalizers ?? []).includes(REPLICA_SET_FINALIZER)) {
      // The event of this write starts the next pass. No work may exist before the finalizer does.
      await this.#setFinalizers(replicaSet, [
        ...(replicaSet.metadata.finalizers ?? []),
        REPLICA_SET_FINALIZER,
      ]);
      return DONE;
    }
    const yieldMs = this.#rivals.yieldMs(replicaSet, this.#options.clock.now());
    return yieldMs === undefined ? this.#deploy(replicaSet) : this.#yield(replicaSet, yieldMs);
  }

  /**
   * Another controller also writes the replica set: reports it once, and stops writing its status.
   */
  async #yield(replicaSet: ManifestWorkReplicaSet, afterMs: number): Promise<ReconcileOutcome> {
    const key = namespacedName(replicaSet.metadata);
    if (!this.#reported.has(key)) {
      const { namespace = '', name, uid, resourceVersion } = replicaSet.metadata;
      const now = formatRfc3339(instantFromEpochMs(this.#options.clock.now()));
      const status = { conditions: yieldedConditions(replicaSet, now) };
      const patch = { metadata: { uid, resourceVersion }, status };
      const options = { ...FIELD_MANAGER, subresource: 'status' } as const;
      await this.#options.hub.mergePatch(MANIFEST_WORK_REPLICA_SET, { namespace, name }, patch, options);
      this.#reported.add(key);
      this.#options.onYield?.(key);
    }
    return { kind: 'requeue', afterMs };
  }

  async #deploy(replicaSet: ManifestWorkReplicaSet): Promise<ReconcileOutcome> {
    const { hub, clock } = this.#options;
    if (this.#reported.delete(namespacedName(replicaSet.metadata)))
      this.#options.onResume?.(namespacedName(replicaSet.metadata));
    const control = readRolloutControl(replicaSet);
    const goesBack = control.rolledBack || control.aborted;
    const lastGood = goesBack ? await readLastGood(hub, replicaSet) : undefined;
    const template = effectiveTemplate(replicaSet, control, lastGood);
    const plan = this.#plan(lastGood === undefined ? replicaSet : atOnce(replicaSet), template, control);
    if (await this.#rollBack(replicaSet, control, plan)) return DONE;
    const now = formatRfc3339(instantFromEpochMs(clock.now()));
    const { waiting, failure } = await this.#write(replicaSet, plan.actions, now).then(
      (missing) => ({ waiting: missing, failure: undefined }),
      (error: unknown) => ({ waiting: NOTHING_WAITS, failure: { error } }),
    );
    const status = replicaSetStatus(replicaSet, plan, {
      now,
      hold: holdOf(control, lastGood !== undefined),
      failure: waiting.size > 0 ? missingText([...waiting.keys()]) : failureOf(failure?.error),
    });
    await this.#patchStatus(replicaSet, status);
    if (failure !== undefined) throw failure.error;
    await this.#recordIfGood(replicaSet, control, status);
    const afterMs = Math.min(plan.recheckAfterMs ?? Number.POSITIVE_INFINITY, ...waiting.values());
    return afterMs === Number.POSITIVE_INFINITY ? DONE : { kind: 'requeue', afterMs };
  }

  #plan(
    replicaSet: ManifestWorkReplicaSet,
    template: ManifestWorkReplicaSet['spec']['manifestWorkTemplate'],
    control: RolloutControl,
  ): ReplicaSetPlan {
    const { inventory, clock } = this.#options;
    const namespace = replicaSet.metadata.namespace ?? '';
    const names = replicaSet.spec.placementRefs.map(({ name }) => name);
    const nowMs = clock.now();
    return planReplicaSet({
      replicaSet,
      placements: new Map(
        names.flatMap((name) => {
          const placement = inventory.placement(namespace, name);
          return placement === undefined ? [] : [[name, placement] as const];
        }),
      ),
      decisions: new Map(names.map((name) => [name, inventory.decisionsOf(namespace, name)])),
      children: inventory.childrenOf(replicaSet),
      specsFor: clusterSpecs(replicaSet, template, (name) => inventory.cluster(name)),
      takesWork: (name) => takesWork(inventory.cluster(name)),
      nowMs,
      now: formatRfc3339(instantFromEpochMs(nowMs)),
      rules: control.rules ?? this.#options.rules,
      paused: control.paused,
    });
  }

  /** If more clusters failed than allowed, and the rollback is automatic: marks the template as failed. */
  async #rollBack(
    replicaSet: ManifestWorkReplicaSet,
    control: RolloutControl,
    plan: ReplicaSetPlan,
  ): Promise<boolean> {
    if (control.rollback !== 'automatic' || control.rolledBack || control.aborted) return false;
    if (!plan.placements.some(({ maxFailureBreach }) => maxFailureBreach)) return false;
    if ((await readLastGood(this.#options.hub, replicaSet)) === undefined) return false;
    const subject = namespacedName(replicaSet.metadata);
    this.#options.log.warn('the rollout failed, so Berth goes back to the last good template', {
      replicaSet: subject,
    });
    await this.#patch(replicaSet, { annotations: { [ROLLED_BACK_ANNOTATION]: control.templateHash } });
    return true;
  }

  async #recordIfGood(
    replicaSet: ManifestWorkReplicaSet,
    control: RolloutControl,
    status: ManifestWorkReplicaSetStatus,
  ): Promise<void> {
    const complete = status.conditions?.some(
      ({ type, status: value }) => type === 'PlacementRolledOut' && value === 'True',
    );
    if (control.rollback === 'off' || complete !== true) return;
    await recordLastGood(this.#options.hub, replicaSet, control.templateHash);
  }

  /** Deletes all works with the label. They are listed from the hub, because a new work may be missing in the inventory. */
  async #finalize(replicaSet: ManifestWorkReplicaSet): Promise<ReconcileOutcome> {
    const finalizers = replicaSet.metadata.finalizers ?? [];
    if (!finalizers.includes(REPLICA_SET_FINALIZER)) return DONE;
    const { hub, clock } = this.#options;
    const labelSelector = `${REPLICA_SET_LABEL}=${ownerLabelValue(replicaSet.metadata)}`;
    const { items } = await hub.list(MANIFEST_WORK, { labelSelector });
    const deletions = items.map((current): WorkAction => {
      return { type: 'delete', current: current as never, reason: 'the replica set is deleted' };
    });
    await this.#write(replicaSet, deletions, formatRfc3339(instantFromEpochMs(clock.now())));
    const foreground = replicaSet.spec.cascadeDeletionPolicy === 'Foreground';
    if (foreground && (await hub.list(MANIFEST_WORK, { labelSelector })).items.length > 0)
      return { kind: 'requeue', afterMs: FOREGROUND_RECHECK_MS };
    await this.#setFinalizers(
      replicaSet,
      finalizers.filter((finalizer) => finalizer !== REPLICA_SET_FINALIZER),
    );
    return DONE;
  }

  #write(
    replicaSet: ManifestWorkReplicaSet,
    actions: readonly WorkAction[],
    now: string,
  ): ReturnType<typeof writeWorks> {
    const { hub, writeConcurrency: concurrency, namespaces, onWrite } = this.#options;
    const key = namespacedName(replicaSet.metadata);
    return writeWorks(actions, { hub, replicaSet: key, now, concurrency, namespaces, onWrite });
  }

  async #setFinalizers(replicaSet: ManifestWorkReplicaSet, finalizers: readonly string[]): Promise<void> {
    const { resourceVersion } = replicaSet.metadata;
    await this.#patch(replicaSet, { resourceVersion, finalizers });
  }

  async #patch(replicaSet: ManifestWorkReplicaSet, metadata: object): Promise<void> {
    const { namespace = '', name, uid } = replicaSet.metadata;
    const patch = { metadata: { uid, ...metadata } };
    await this.#options.hub.mergePatch(MANIFEST_WORK_REPLICA_SET, { namespace, name }, patch, FIELD_MANAGER);
  }

  async #patchStatus(
    replicaSet: ManifestWorkReplicaSet,
    status: ManifestWorkReplicaSetStatus,
  ): Promise<void> {
    if (jsonEqual(replicaSet.status, status)) return;
    const { namespace = '', name, uid } = replicaSet.metadata;
    const patch = { metadata: { uid }, status };
    const options = { ...FIELD_MANAGER, subresource: 'status' } as const;
    const { hub } = this.#options;
    const after = await hub.mergePatch(MANIFEST_WORK_REPLICA_SET, { namespace, name }, patch, options);
    this.#rivals.recordWrite(replicaSet, status, after.metadata.resourceVersion ?? '');
  }
}

/** The events of the works normally start the next pass sooner. This covers a lost event. */
const FOREGROUND_RECHECK_MS = 30_000;
const NOTHING_WAITS: ReadonlyMap<string, number> = new Map();

function missingText(clusters: readonly string[]): string {
  return `no namespace on the hub: ${formatNameList([...clusters].sort())}`;
}

/** A conflict is no failure, because its event starts the next pass. */
function failureOf(error: unknown): string | undefined {
  return error === undefined || error instanceof ConflictError ? undefined : errorText(error);
}

function holdOf(control: RolloutControl, hasLastGood: boolean): RolloutHold {
  if (control.aborted && hasLastGood) return 'aborted';
  if (control.rolledBack && hasLastGood) return 'rolled-back';
  return control.paused || control.aborted ? 'paused' : 'none';
}

/**
 * A rollback is not staged: the last good template was on every cluster, and one broken cluster must not stop the
 * others.
 */
function atOnce(replicaSet: ManifestWorkReplicaSet): ManifestWorkReplicaSet {
  const placementRefs = replicaSet.spec.placementRefs.map(({ name }) => ({ name }));
  return { ...replicaSet, spec: { ...replicaSet.spec, placementRefs } };
}

/**
 * Reads the last template that every cluster of a replica set applied successfully. It is stored in a
 * ControllerRevision, which survives restarts, is deleted with its owner, and can be read with kubectl. An annotation
 * of the replica set names it.
 */
async function readLastGood(
  hub: KubeApi,
  replicaSet: ManifestWorkReplicaSet,
): Promise<ManifestWorkSpec | undefined> {
  const hash = replicaSet.metadata.annotations?.[LAST_GOOD_ANNOTATION];
  if (hash === undefined) return undefined;
  const revision = await hub.get(CONTROLLER_REVISION, keyOf(replicaSet, hash));
  return (revision?.['data'] as { spec?: ManifestWorkSpec } | undefined)?.spec;
}

/**
 * Creates the new revision, then sets the reference, then deletes the old one, so that a last good
 * template exists at any time.
 */
async function recordLastGood(
  hub: KubeApi,
  replicaSet: ManifestWorkReplicaSet,
  templateHash: string,
): Promise<void> {
  const before = replicaSet.metadata.annotations?.[LAST_GOOD_ANNOTATION];
  if (before === templateHash) return;
  await createRevision(hub, replicaSet, templateHash);
  const { namespace = '', name, uid } = replicaSet.metadata;
  const patch = { metadata: { uid, annotations: { [LAST_GOOD_ANNOTATION]: templateHash } } };
  await hub.mergePatch(MANIFEST_WORK_REPLICA_SET, { namespace, name }, patch, {
    fieldManager: 'berth-works',
  });
  if (before !== undefined) await hub.delete(CONTROLLER_REVISION, keyOf(replicaSet, before));
}

/** A revision never changes, and its name is derived from its content, so an existing revision is the right one. */
async function createRevision(hub: KubeApi, replicaSet: ManifestWorkReplicaSet, hash: string): Promise<void> {
  const { apiVersion, kind, metadata } = replicaSet;
  const revision: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      ...keyOf(replicaSet, hash),
      ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' }],
    },
    revision: metadata.generation ?? 1,
    data: { spec: replicaSet.spec.manifestWorkTemplate },
  };
  try {
    await hub.create(CONTROLLER_REVISION, revision, { fieldManager: 'berth-works' });
  } catch (error) {
    if (!(error instanceof BerthError) || error.code !== 'kube.alreadyexists') throw error;
  }
}

function keyOf(
  replicaSet: ManifestWorkReplicaSet,
  hash: string,
): { readonly namespace: string; readonly name: string } {
  const { namespace = '', name } = replicaSet.metadata;
  return { namespace, name: `${name.slice(0, 200).replace(/[^a-z0-9]+$/, '')}-${hash}` };
}
