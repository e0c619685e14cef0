import type { KubeObject } from '@berth/kube/model/object-meta';

export interface WellKnownCondition {
  readonly result: boolean;
  readonly message: string;
}

/** Complete of a Job and of a Pod; undefined for every other kind and condition. */
export function wellKnownCondition(object: KubeObject, condition: string): WellKnownCondition | undefined {
  if (condition !== 'Complete') return undefined;
  const status = (object['status'] ?? {}) as { conditions?: unknown; phase?: unknown };
  switch (`${object.apiVersion} ${object.kind}`) {
    case 'batch/v1 Job': {
      const finished = Array.isArray(status.conditions) && status.conditions.some(endsJob);
      return { result: finished, message: finished ? 'Job is finished' : 'Job is not finished' };
    }
    case 'v1 Pod': {
      const phase = typeof status.phase === 'string' ? status.phase : '';
      return { result: phase === 'Succeeded' || phase === 'Failed', message: `Pod is in phase ${phase}` };
    }
    default:
      return undefined;
  }
}

function endsJob(condition: unknown): boolean {
  const { type, status } = (condition ?? {}) as { type?: unknown; status?: unknown };
  return (type === 'Complete' || type === 'Failed') && status === 'True';
}
