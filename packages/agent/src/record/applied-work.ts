import {
  APPLIED_MANIFEST_WORK_FINALIZER,
  type AppliedManifestWork,
  type AppliedManifestWorkStatus,
} from '@berth/ocm/kind/applied-manifest-work';
import { APPLIED_MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { AgentSettings } from '../options/agent-options.ts';
import { INTENTS_ANNOTATION } from './apply-intents.ts';
import { AGENT_MANAGER } from '../rules/applied/agent-manager.ts';

export function appliedWorkName(settings: Pick<AgentSettings, 'hubHash'>, work: string): string {
  return `${settings.hubHash}-${work}`;
}

export async function readApplied(cluster: KubeApi, name: string): Promise<AppliedManifestWork | undefined> {
  const found = await cluster.get(APPLIED_MANIFEST_WORK, { namespace: '', name });
  return found as unknown as AppliedManifestWork | undefined;
}

/**
 * Creates the AppliedManifestWork of a work, or updates its spec and labels (when an agent with a
 * new id takes over).
 * @param intents the objects that are about to be created, if any
 */
export async function ensureApplied(
  settings: AgentSettings,
  work: ManifestWork,
  existing: AppliedManifestWork | undefined,
  intents: string | undefined,
): Promise<AppliedManifestWork> {
  const { cluster, hubHash, agentId } = settings;
  const name = appliedWorkName(settings, work.metadata.name);
  const spec = { hubHash, agentID: agentId, manifestWorkName: work.metadata.name };
  const labels = work.metadata.labels;
  if (existing === undefined) {
    const metadata = {
      name,
      finalizers: [APPLIED_MANIFEST_WORK_FINALIZER],
      ...(labels === undefined ? {} : { labels }),
      ...(intents === undefined ? {} : { annotations: { [INTENTS_ANNOTATION]: intents } }),
    };
    const object = {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'AppliedManifestWork',
      metadata,
      spec,
    } as unknown as KubeObject;
    return asApplied(await cluster.create(APPLIED_MANIFEST_WORK, object, { fieldManager: AGENT_MANAGER }));
  }
  const patch = metadataPatch(existing, labels, intents);
  if (patch === undefined && jsonEqual(existing.spec, spec)) return existing;
  const { uid, resourceVersion } = existing.metadata;
  const body = { metadata: { ...patch, uid, resourceVersion }, spec };
  return asApplied(
    await cluster.mergePatch(APPLIED_MANIFEST_WORK, { namespace: '', name }, body, {
      fieldManager: AGENT_MANAGER,
    }),
  );
}

/** Adds a removed finalizer again. Labels are copied from the work; other labels stay. */
function metadataPatch(
  existing: AppliedManifestWork,
  labels: Readonly<Record<string, string>> | undefined,
  intents: string | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const { finalizers = [], labels: present = {} } = existing.metadata;
  const missing = Object.entries(labels ?? {}).filter(([key, value]) => present[key] !== value);
  const unfinalized = !finalizers.includes(APPLIED_MANIFEST_WORK_FINALIZER);
  if (missing.length === 0 && !unfinalized && intents === undefined) return undefined;
  return {
    ...(missing.length === 0 ? {} : { labels: Object.fromEntries(missing) }),
    ...(intents === undefined ? {} : { annotations: { [INTENTS_ANNOTATION]: intents } }),
    ...(unfinalized ? { finalizers: [...finalizers, APPLIED_MANIFEST_WORK_FINALIZER] } : {}),
  };
}

/**
 * Writes the status if it differs.
 * @returns the object after the write
 */
export async function writeAppliedStatus(
  cluster: KubeApi,
  applied: AppliedManifestWork,
  status: AppliedManifestWorkStatus,
): Promise<AppliedManifestWork> {
  if (jsonEqual(applied.status ?? {}, status)) return applied;
  const { name, uid, resourceVersion } = applied.metadata;
  const patch = {
    metadata: { uid, resourceVersion },
    status: { ...status, evictionStartTime: status.evictionStartTime ?? null },
  };
  return asApplied(
    await cluster.mergePatch(APPLIED_MANIFEST_WORK, { namespace: '', name }, patch, {
      subresource: 'status',
      fieldManager: AGENT_MANAGER,
    }),
  );
}

/** Removes intents that are completed. */
export async function dropIntents(
  cluster: KubeApi,
  applied: AppliedManifestWork,
): Promise<AppliedManifestWork> {
  const { name, uid, resourceVersion } = applied.metadata;
  const patch = { metadata: { uid, resourceVersion, annotations: { [INTENTS_ANNOTATION]: null } } };
  return asApplied(
    await cluster.mergePatch(APPLIED_MANIFEST_WORK, { namespace: '', name }, patch, {
      fieldManager: AGENT_MANAGER,
    }),
  );
}

/** Removes our finalizer. If the object is being deleted, the server then removes it. */
export async function dropAppliedFinalizer(cluster: KubeApi, applied: AppliedManifestWork): Promise<void> {
  const { name, uid, resourceVersion, finalizers = [] } = applied.metadata;
  if (!finalizers.includes(APPLIED_MANIFEST_WORK_FINALIZER)) return;
  const kept = finalizers.filter((finalizer) => finalizer !== APPLIED_MANIFEST_WORK_FINALIZER);
  await cluster.mergePatch(
    APPLIED_MANIFEST_WORK,
    { namespace: '', name },
    { metadata: { uid, resourceVersion, finalizers: kept } },
    { fieldManager: AGENT_MANAGER },
  );
}

function asApplied(object: KubeObject): AppliedManifestWork {
  return object as unknown as AppliedManifestWork;
}
