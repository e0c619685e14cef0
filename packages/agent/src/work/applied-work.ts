import { APPLIED_MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  APPLIED_MANIFEST_WORK_FINALIZER,
  type AppliedManifestWork,
  type AppliedManifestWorkStatus,
  type AppliedResource,
} from '@berth/ocm/kind/applied-manifest-work';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { ManifestTask } from '../cluster/manifest-task.ts';
import type { AgentSettings } from '../options/agent-options.ts';
import { AGENT_MANAGER } from '../rules/applied/ownership.ts';
import { sortedResources, untrackedResources } from '../rules/applied/applied-resources.ts';

export function appliedWorkName(settings: Pick<AgentSettings, 'hubHash'>, work: string): string {
  return `${settings.hubHash}-${work}`;
}

export async function readApplied(cluster: KubeApi, name: string): Promise<AppliedManifestWork | undefined> {
  const found = await cluster.get(APPLIED_MANIFEST_WORK, { namespace: '', name });
  return found as unknown as AppliedManifestWork | undefined;
}

/**
 * The objects about to be created, stored on the AppliedManifestWork before that: otherwise an
 * agent that is killed between creating an object and recording it would orphan the object if its
 * manifest, or the work, is removed before the next start.
 */
const INTENTS_ANNOTATION = 'berth.dev/applying';

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

/**
 * Annotations are limited to 256 KiB, so works with some thousand objects do not have this
 * protection.
 */
const MAX_LENGTH = 200_000;

/** The new value of the annotation; undefined if it need not change. */
export function newIntents(
  applied: AppliedManifestWork | undefined,
  tasks: readonly ManifestTask[],
): string | undefined {
  const wanted = tasks.flatMap(({ ready, meta }) => {
    const { group = '', version = '', resource = '', namespace = '', name = '' } = meta;
    return ready ? [{ group, version, resource, namespace, name }] : [];
  });
  const recorded = applied?.status?.appliedResources ?? [];
  const known = [...recorded, ...intentsOf(applied)];
  if (untrackedResources(wanted, known).length === 0) return undefined;
  const open = sortedResources(untrackedResources([...wanted, ...intentsOf(applied)], recorded));
  const text = JSON.stringify(
    open.map(({ group = '', version, resource, namespace = '', name }) => [
      group,
      version,
      resource,
      namespace,
      name,
    ]),
  );
  return text.length > MAX_LENGTH ? undefined : text;
}

/** All objects that this AppliedManifestWork may have created: recorded and intended ones. */
export function allAppliedResources(applied: AppliedManifestWork): readonly AppliedResource[] {
  const recorded = applied.status?.appliedResources ?? [];
  return [...recorded, ...untrackedResources(intentsOf(applied), recorded)];
}

/** Whether there are intents that are not recorded as applied. */
export function hasOpenIntents(applied: AppliedManifestWork): boolean {
  return untrackedResources(intentsOf(applied), applied.status?.appliedResources ?? []).length > 0;
}

function intentsOf(applied: AppliedManifestWork | undefined): readonly AppliedResource[] {
  const text = applied?.metadata.annotations?.[INTENTS_ANNOTATION];
  if (text === undefined) return [];
  try {
    const list = JSON.parse(text) as unknown;
    return Array.isArray(list) ? list.flatMap((entry) => resourceOf(entry) ?? []) : [];
  } catch {
    // An unreadable annotation (edited by a user) counts as empty.
    return [];
  }
}

function resourceOf(entry: unknown): AppliedResource | undefined {
  if (!Array.isArray(entry) || entry.length !== 5) return undefined;
  const fields = entry as readonly unknown[];
  if (!fields.every((field) => typeof field === 'string')) return undefined;
  const [group, version, resource, namespace, name] = fields as readonly [
    string,
    string,
    string,
    string,
    string,
  ];
  return version === '' || resource === '' || name === ''
    ? undefined
    : { group, version, resource, namespace, name };
}
