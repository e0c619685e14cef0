import pLimit from 'p-limit';
import { BerthError, InputError } from '@berth/runtime/errors';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import { REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { WorkAction } from '../../core/work/replica-set/replica-set-plan.ts';
import { sameWorkSpec } from '@berth/ocm/kind/same-work-spec';
import { type MissingNamespaces, confirmTakesWork } from '../inventory/cluster-namespaces.ts';
import { ROLLED_OUT_AT_ANNOTATION } from '../../core/work/replica-set/work-rollout-status.ts';

/** One write to a namespace of a cluster on the hub. */
export interface WorkWritten {
  readonly kind: 'created' | 'updated' | 'deleted';
  /** `namespace/name` of the replica set. */
  readonly replicaSet: string;
  readonly cluster: string;
  readonly work: string;
  readonly reason?: string | undefined;
  /** As the hub returned it; of a deletion: as it was before. */
  readonly object: KubeObject;
}

export interface WriteWorksOptions {
  readonly hub: KubeApi;
  readonly replicaSet: string;
  /** RFC 3339 */
  readonly now: string;
  readonly concurrency: number;
  readonly namespaces: MissingNamespaces;
  readonly onWrite?: ((event: WorkWritten) => void) | undefined;
}

const FIELD_MANAGER = 'berth-works';

/**
 * Applies a plan: first additions and changes, then removals. A failed write does not stop the others, but nothing is
 * removed if one failed, or if a cluster has no namespace yet.
 * @returns the clusters without a namespace, and milliseconds until the next try
 * @throws the first error, after all were tried
 */
export async function writeWorks(
  actions: readonly WorkAction[],
  options: WriteWorksOptions,
): Promise<ReadonlyMap<string, number>> {
  const limit = pLimit(options.concurrency);
  const waiting = new Map<string, number>();
  const write = async (action: WorkAction): Promise<void> => {
    if (action.type !== 'create') return writeOne(action, options);
    const { namespace = '' } = action.work.metadata;
    const waitMs = await options.namespaces.make(namespace, () => createWork(action.work, options));
    if (waitMs !== undefined) waiting.set(namespace, waitMs);
  };
  const run = async (chosen: readonly WorkAction[]): Promise<void> => {
    const results = await Promise.allSettled(chosen.map((action) => limit(() => write(action))));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  };
  await run(actions.filter(({ type }) => type !== 'delete'));
  if (waiting.size === 0) await run(actions.filter(({ type }) => type === 'delete'));
  return waiting;
}

async function writeOne(
  action: Exclude<WorkAction, { type: 'create' }>,
  options: WriteWorksOptions,
): Promise<void> {
  if (action.type === 'update') return updateWork(action, options);
  const { name, namespace = '', uid } = action.current.metadata;
  if (action.current.metadata.deletionTimestamp !== undefined) return;
  const found = await options.hub.delete(MANIFEST_WORK, { namespace, name }, { uid });
  if (found) report('deleted', action.current as unknown as KubeObject, options, action.reason);
}

async function createWork(work: ManifestWork, options: WriteWorksOptions): Promise<void> {
  // The event of the cluster starts the next pass.
  if (!(await confirmTakesWork(options.hub, work.metadata.namespace ?? ''))) return;
  try {
    const created = await options.hub.create(MANIFEST_WORK, work as unknown as KubeObject, {
      fieldManager: FIELD_MANAGER,
    });
    report('created', created, options);
  } catch (error) {
    if (!(error instanceof BerthError) || error.code !== 'kube.alreadyexists') throw error;
    await expectOurs(work, options, error);
  }
}

/**
 * Names are deterministic: an existing work is the one that was just created, unless another owner
 * uses the name.
 */
async function expectOurs(work: ManifestWork, options: WriteWorksOptions, cause: BerthError): Promise<void> {
  const { name, namespace = '', labels } = work.metadata;
  const live = await options.hub.get(MANIFEST_WORK, { namespace, name });
  if (live?.metadata.labels?.[REPLICA_SET_LABEL] === labels?.[REPLICA_SET_LABEL]) return;
  throw new InputError(`a ManifestWork of this name exists and belongs to another owner`, {
    code: 'works.name-taken',
    subject: `ManifestWork ${namespace}/${name}`,
    hint: `delete or rename it: ManifestWorkReplicaSet ${options.replicaSet} needs the name`,
    cause,
  });
}

async function updateWork(
  { current, labels, spec }: Extract<WorkAction, { type: 'update' }>,
  options: WriteWorksOptions,
): Promise<void> {
  const changed = spec !== undefined && !sameWorkSpec(current.spec, spec);
  if (!changed && sameRecord(current.metadata.labels ?? {}, labels)) return;
  const annotations = changed
    ? { ...current.metadata.annotations, [ROLLED_OUT_AT_ANNOTATION]: options.now }
    : current.metadata.annotations;
  const next = {
    ...current,
    metadata: { ...current.metadata, labels, annotations },
    spec: changed ? spec : current.spec,
  };
  const updated = await options.hub.update(MANIFEST_WORK, next, { fieldManager: FIELD_MANAGER });
  if (changed) report('updated', updated, options);
}

function sameRecord(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

function report(
  kind: WorkWritten['kind'],
  object: KubeObject,
  options: WriteWorksOptions,
  reason?: string,
): void {
  const { namespace: cluster = '', name } = object.metadata;
  options.onWrite?.({ kind, replicaSet: options.replicaSet, cluster, work: name, reason, object });
}
