import { createHash } from 'node:crypto';
import { apiVersionOf, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import { SIMULATION_ANNOTATIONS } from './simulation-options.ts';

/** What a cluster's controllers would do to the ReplicaSets of a Deployment, or to the pods of another workload. */
export interface ChildPlan {
  readonly create: readonly KubeObject[];
  readonly remove: readonly KubeObject[];
  /** ReplicaSets whose number of replicas becomes `replicas`. */
  readonly scale: readonly KubeObject[];
  readonly replicas: number;
}

/** Of one workload, whatever it asks for: a simulated pod costs as much memory as a real object of its size. */
const MOST_PODS = 50;

/**
 * Old versions go at once, and no ReplicaSet of an old version stays: rolling back is not simulated.
 * @param live the children that the workload controls, also those that are being deleted
 */
export function planChildren(
  kind: KindInfo,
  owner: KubeObject,
  live: readonly KubeObject[],
  random: () => number,
): ChildPlan {
  if (owner.metadata.deletionTimestamp !== undefined || isFinishedJob(owner))
    return { create: [], remove: [], scale: [], replicas: 0 };
  const stays = live.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const plan =
    kind.kind === 'Deployment' ? planSet(kind, owner, stays) : planPods(kind, owner, { stays, random });
  const isThere = new Set(live.map(({ metadata }) => metadata.name));
  return { ...plan, create: plan.create.filter(({ metadata }) => !isThere.has(metadata.name)) };
}

function planSet(kind: KindInfo, owner: KubeObject, stays: readonly KubeObject[]): ChildPlan {
  const template = templateOf(owner);
  const hash = { 'pod-template-hash': hashOf(template) };
  const name = `${owner.metadata.name}-${hash['pod-template-hash']}`;
  const labels = { ...template.metadata?.labels, ...hash };
  const { selector } = owner['spec'] as { selector?: { matchLabels?: object } };
  const replicas = replicasOf(owner);
  const spec = {
    replicas,
    selector: { ...selector, matchLabels: { ...selector?.matchLabels, ...hash } },
    template: { ...template, metadata: { ...template.metadata, labels } },
  };
  const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', ...childOf(kind, owner, { name, labels }), spec };
  return {
    create: [set],
    remove: stays.filter(({ metadata }) => metadata.name !== name),
    scale: stays.filter((one) => one.metadata.name === name && replicasOf(one) !== replicas),
    replicas,
  };
}

function planPods(
  kind: KindInfo,
  owner: KubeObject,
  { stays, random }: { readonly stays: readonly KubeObject[]; readonly random: () => number },
): ChildPlan {
  const template = templateOf(owner);
  // A ReplicaSet never changes its template, and a Job cannot.
  const isRevised = kind.kind === 'DaemonSet' || kind.kind === 'StatefulSet';
  const revision = isRevised ? { 'controller-revision-hash': hashOf(template) } : {};
  const current = stays.filter(({ metadata }) =>
    Object.entries(revision).every(([label, hash]) => metadata.labels?.[label] === hash),
  );
  const names = Array.from({ length: Math.min(podCount(kind, owner), MOST_PODS) }, (_, index) =>
    kind.kind === 'StatefulSet'
      ? `${owner.metadata.name}-${String(index)}`
      : (current[index]?.metadata.name ?? `${owner.metadata.name}-${suffix(5, random)}`),
  );
  const { annotations, labels } = template.metadata ?? {};
  const podOf = (name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    ...childOf(kind, owner, { name, labels: { ...labels, ...revision }, annotations }),
    spec: template.spec ?? {},
  });
  return {
    create: names.map(podOf),
    remove: stays.filter((pod) => !current.includes(pod) || !names.includes(pod.metadata.name)),
    scale: [],
    replicas: names.length,
  };
}

interface PodTemplate {
  readonly metadata?: Pick<ObjectMeta, 'labels' | 'annotations'>;
  readonly spec?: object;
}

function templateOf(owner: KubeObject): PodTemplate {
  return (owner['spec'] as { template?: PodTemplate } | undefined)?.template ?? {};
}

export function replicasOf(workload: KubeObject): number {
  const replicas = (workload['spec'] as { replicas?: unknown } | undefined)?.replicas;
  return typeof replicas === 'number' ? replicas : 1;
}

export function completionsOf(job: KubeObject): number {
  const completions = (job['spec'] as { completions?: unknown } | undefined)?.completions;
  return typeof completions === 'number' ? completions : 1;
}

/** A simulated cluster has one node. */
function podCount({ kind }: KindInfo, owner: KubeObject): number {
  if (kind === 'DaemonSet') return 1;
  return kind === 'Job' ? completionsOf(owner) : replicasOf(owner);
}

/** The pods of a finished Job may be deleted without new ones. */
export function isFinishedJob(owner: KubeObject): boolean {
  const { conditions = [] } = (owner['status'] ?? {}) as { conditions?: readonly { type: string }[] };
  return conditions.some(({ type }) => type === 'Complete' || type === 'Failed');
}

/** With how the owner is simulated. */
function childOf(
  kind: KindInfo,
  { metadata }: KubeObject,
  { annotations, ...own }: Pick<ObjectMeta, 'name' | 'labels' | 'annotations'>,
): Pick<KubeObject, 'metadata'> {
  const passed = Object.entries(metadata.annotations ?? {}).filter(([name]) =>
    SIMULATION_ANNOTATIONS.includes(name),
  );
  const reference = { apiVersion: apiVersionOf(kind), kind: kind.kind, name: metadata.name };
  return {
    metadata: {
      ...own,
      namespace: metadata.namespace ?? '',
      annotations: { ...annotations, ...Object.fromEntries(passed) },
      ownerReferences: [
        { ...reference, uid: metadata.uid ?? '', controller: true, blockOwnerDeletion: true },
      ],
    },
  };
}

/** As Kubernetes names children: no vowels, and no digits that look like letters. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

function suffix(length: number, random: () => number): string {
  return Array.from({ length }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]).join('');
}

/** Another text than Kubernetes' own hash, which depends on how Go prints the template. */
function hashOf(template: PodTemplate): string {
  const bytes = createHash('sha256').update(JSON.stringify(template)).digest();
  let at = 0;
  return suffix(10, () => (bytes[at++] ?? 0) / 256);
}
