import type { FieldValue, ManifestCondition, ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { resolveManifestConfig } from '@berth/agent/rules/manifests/manifest-config';

export interface WorkloadReadiness {
  /** Why the work is not ready yet; undefined if it is. */
  readonly waiting: string | undefined;
  readonly failed: string | undefined;
}

/**
 * Reads readiness from the well-known feedback of a work (ReadyReplicas, NumberReady, JobComplete,
 * PodReady …). Manifests without feedback are ready when they exist.
 */
export function readWorkloads(work: ManifestWork): WorkloadReadiness {
  const verdicts = (work.status?.resourceStatus?.manifests ?? []).map((manifest) =>
    readManifest(
      manifest,
      work.spec?.workload?.manifests?.[manifest.resourceMeta.ordinal],
      asksForStatus(work, manifest),
    ),
  );
  return {
    waiting: verdicts.find(({ waiting }) => waiting !== undefined)?.waiting,
    failed: verdicts.find(({ failed }) => failed !== undefined)?.failed,
  };
}

/** A workload without a status gives no values, so this checks whether values are requested. */
function asksForStatus(work: ManifestWork, manifest: ManifestCondition): boolean {
  const config = resolveManifestConfig(work.spec?.manifestConfigs ?? [], manifest.resourceMeta);
  return config.feedbackRules.some(({ type }) => type === 'WellKnownStatus');
}

function readManifest(
  status: ManifestCondition,
  manifest: KubeObject | undefined,
  asked: boolean,
): WorkloadReadiness {
  const values = new Map(
    (status.statusFeedback?.values ?? []).map(({ name, fieldValue }) => [name, fieldValue]),
  );
  const { kind = '', namespace = '', name = '' } = status.resourceMeta;
  const id = `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
  if (text(values.get('PodPhase')) === 'Failed') return { waiting: undefined, failed: `${id} has failed` };
  const waiting = asked ? waitingFor(kind, values, manifest) : undefined;
  return { waiting: waiting === undefined ? undefined : `${id}: ${waiting}`, failed: undefined };
}

type Values = ReadonlyMap<string, FieldValue>;

function waitingFor(kind: string, values: Values, manifest: KubeObject | undefined): string | undefined {
  switch (kind) {
    case 'Deployment': {
      const desired = desiredReplicas(manifest);
      return shortfall('ready', values.get('ReadyReplicas'), desired) ?? updatedShortfall(values, desired);
    }
    case 'DaemonSet':
      return shortfall(
        'ready',
        values.get('NumberReady'),
        values.get('DesiredNumberScheduled')?.integer ?? 0,
      );
    case 'Job':
      return text(values.get('JobComplete')) === 'True' ? undefined : 'not complete';
    case 'Pod':
      return text(values.get('PodReady')) === 'True' || text(values.get('PodPhase')) === 'Succeeded'
        ? undefined
        : 'not ready';
    default:
      return undefined;
  }
}

/**
 * Only if a rule reads `UpdatedReplicas`, which distinguishes new pods from those of the previous
 * version.
 */
function updatedShortfall(values: Values, desired: number): string | undefined {
  return values.has('UpdatedReplicas')
    ? shortfall('updated', values.get('UpdatedReplicas'), desired)
    : undefined;
}

function shortfall(
  what: string,
  value: FieldValue | undefined,
  desired: number | bigint,
): string | undefined {
  const got = value?.integer ?? 0;
  return got < desired ? `${got} of ${desired} ${what}` : undefined;
}

function desiredReplicas(manifest: KubeObject | undefined): number {
  const replicas = (manifest?.['spec'] as { replicas?: unknown } | undefined)?.replicas;
  return typeof replicas === 'number' ? replicas : 1;
}

function text(value: FieldValue | undefined): string | undefined {
  return value?.string;
}
