import { InputError } from '@berth/runtime/errors';
import {
  apiVersionOf,
  type KindInfo,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef } from '@berth/kube/model/object-ref';
import { PLACEMENT_LABEL, type PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { isBeingDeleted } from '../inventory/cluster-namespaces.ts';
import {
  NAMED_WORK_LABEL,
  namedWorkLabel,
  namedWorkPart,
  type NamedWorksPlan,
  planNamedWorks,
} from '../../core/work/named-works.ts';

export type WorkTarget =
  | { readonly type: 'clusters'; readonly clusters: readonly string[] }
  | { readonly type: 'placement'; readonly namespace: string; readonly name: string };

export interface NamedWorkRequest {
  readonly name: string;
  readonly target: WorkTarget;
  readonly specs: readonly ManifestWorkSpec[];
  readonly overwrite: boolean;
}

const FIELD_MANAGER = { fieldManager: 'berth-cli' } as const;

/**
 * Reads the existing works and plans the changes.
 * @throws InputError if other works have the same names
 */
export async function planNamedWork(hub: KubeApi, request: NamedWorkRequest): Promise<NamedWorksPlan> {
  const { target, name, specs, overwrite } = request;
  const clusters = target.type === 'clusters' ? target.clusters : await clustersOf(hub, target);
  const labelled = await hub.list(MANIFEST_WORK, {
    labelSelector: `${NAMED_WORK_LABEL}=${namedWorkLabel(name)}`,
  });
  const named = await Promise.all(
    clusters.flatMap((namespace) =>
      specs.map((_spec, part) => hub.get(MANIFEST_WORK, { namespace, name: namedWorkPart(name, part) })),
    ),
  );
  const existing = [...labelled.items, ...named.filter((work) => work !== undefined)];
  const plan = planNamedWorks({
    name,
    clusters,
    specs,
    overwrite,
    existing: existing as unknown as readonly ManifestWork[],
    removeOthers: target.type === 'placement',
  });
  const [first] = plan.refused;
  if (first !== undefined)
    throw new InputError(`exists with different content (${plan.refused.length} in total)`, {
      code: 'work.exists',
      subject: formatRef({
        kind: 'ManifestWork',
        namespace: first.metadata.namespace ?? '',
        name: first.metadata.name,
      }),
      hint: 'add --overwrite to change it',
    });
  return withoutGoing(hub, plan, target);
}

/**
 * The plan without works on clusters that are being deleted: clean-up would delete them at once. A user without the
 * right to list clusters is not checked.
 * @throws InputError if the user named such a cluster
 */
async function withoutGoing(hub: KubeApi, plan: NamedWorksPlan, target: WorkTarget): Promise<NamedWorksPlan> {
  const going = new Set<string>();
  for (const cluster of new Set(plan.create.map(({ metadata }) => metadata.namespace ?? ''))) {
    const isGoing = await isBeingDeleted(hub, cluster).catch((error: unknown) => {
      if (error instanceof InputError && error.code === 'kube.forbidden') return false;
      throw error;
    });
    if (isGoing) going.add(cluster);
  }
  const [first] = going;
  if (first !== undefined && target.type === 'clusters')
    throw new InputError('is being deleted, so no work is made for it', {
      code: 'work.cluster-going',
      subject: formatRef({ kind: 'ManagedCluster', namespace: '', name: first }),
      hint: 'leave it out of --clusters',
    });
  const isOn = ({ metadata }: ManifestWork): boolean => going.has(metadata.namespace ?? '');
  return { ...plan, create: plan.create.filter((work) => !isOn(work)), skipped: plan.create.filter(isOn) };
}

/** Creates and changes works first, so that a work that moves is on its new cluster before it leaves the old one. */
export async function applyNamedWork(hub: KubeApi, plan: NamedWorksPlan): Promise<void> {
  for (const work of plan.create)
    await hub.create(MANIFEST_WORK, work as unknown as KubeObject, FIELD_MANAGER);
  for (const { current, spec } of plan.update)
    await hub.update(MANIFEST_WORK, { ...current, spec }, FIELD_MANAGER);
  for (const { metadata } of plan.remove) {
    const { namespace = '', name, uid } = metadata;
    await hub.delete(MANIFEST_WORK, { namespace, name }, { uid });
  }
}

/**
 * All clusters that a placement selects.
 * @throws InputError if the list is incomplete, because clusters that are missing in it would lose
 * their work
 */
async function clustersOf(
  hub: KubeApi,
  { namespace, name }: Extract<WorkTarget, { type: 'placement' }>,
): Promise<readonly string[]> {
  const subject = formatRef({ kind: 'Placement', namespace, name });
  const placement = (await requireObject(hub, PLACEMENT, { namespace, name })) as unknown as Placement;
  const labelSelector = `${PLACEMENT_LABEL}=${name}`;
  const { items } = await hub.list(PLACEMENT_DECISION, { namespace, labelSelector });
  const clusters = (items as unknown as readonly PlacementDecision[]).flatMap(
    ({ status }) => status?.decisions?.map(({ clusterName }) => clusterName) ?? [],
  );
  const selected = new Set(clusters);
  const expected = placement.status?.numberOfSelectedClusters;
  if (expected === undefined || selected.size < expected)
    throw new InputError(
      expected === undefined
        ? 'has not been scheduled yet'
        : `selects ${expected} clusters, but its decisions contain ${selected.size}`,
      { code: 'placement.incomplete', subject, hint: 'try again in a moment' },
    );
  return [...selected].sort();
}

async function requireObject(
  hub: KubeApi,
  kind: KindInfo,
  key: { readonly namespace: string; readonly name: string },
): Promise<KubeObject> {
  const found = await hub.get(kind, key);
  if (found !== undefined) return found;
  throw new InputError('does not exist', {
    code: 'kube.notfound',
    subject: formatRef({ kind: kind.kind, ...key }),
  });
}

/** Creates a ManifestWorkReplicaSet instead of works. It follows the placement, so the command need not be repeated. */
export async function createReplicaSet(
  hub: KubeApi,
  request: NamedWorkRequest & { readonly target: Extract<WorkTarget, { type: 'placement' }> },
): Promise<'created' | 'updated' | 'unchanged'> {
  const { namespace, name: placement } = request.target;
  await requireObject(hub, PLACEMENT, { namespace, name: placement });
  const manifests = request.specs.flatMap(({ workload }) => workload?.manifests ?? []);
  const wanted = renderReplicaSet(namespace, request.name, placement, manifests);
  const live = await hub.get(MANIFEST_WORK_REPLICA_SET, { namespace, name: request.name });
  if (live === undefined) {
    await hub.create(MANIFEST_WORK_REPLICA_SET, wanted, FIELD_MANAGER);
    return 'created';
  }
  if (!request.overwrite)
    throw new InputError('exists', {
      code: 'work.exists',
      subject: formatRef({ kind: 'ManifestWorkReplicaSet', namespace, name: request.name }),
      hint: 'add --overwrite to change it',
    });
  const updated = await hub.update(
    MANIFEST_WORK_REPLICA_SET,
    { ...live, spec: { ...(live['spec'] as object), ...(wanted['spec'] as object) } },
    FIELD_MANAGER,
  );
  return updated.metadata.resourceVersion === live.metadata.resourceVersion ? 'unchanged' : 'updated';
}

export function renderReplicaSet(
  namespace: string,
  name: string,
  placement: string,
  manifests: readonly KubeObject[],
): KubeObject {
  return {
    apiVersion: apiVersionOf(MANIFEST_WORK_REPLICA_SET),
    kind: MANIFEST_WORK_REPLICA_SET.kind,
    metadata: { name, namespace },
    spec: { manifestWorkTemplate: { workload: { manifests } }, placementRefs: [{ name: placement }] },
  };
}
