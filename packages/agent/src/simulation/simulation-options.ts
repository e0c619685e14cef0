import type { KubeObject } from '@berth/kube/model/object-meta';
import { parseGoDuration } from '@berth/kube/model/go-duration';

/** How a simulated workload behaves, by annotations on it or on its pod template. */
export interface SimulatedBehaviour {
  /** `fail`: never becomes ready, a Job fails. `hang`: nothing ever happens. */
  readonly fate: 'succeed' | 'fail' | 'hang';
  readonly readyAfterMs: number;
}

export const SIMULATE_ANNOTATION = 'berth.dev/simulate';
export const READY_AFTER_ANNOTATION = 'berth.dev/ready-after';
export const SIMULATION_ANNOTATIONS: readonly string[] = [SIMULATE_ANNOTATION, READY_AFTER_ANNOTATION];

/** An invalid value counts as absent, because a simulation must never be stricter than a cluster. */
export function behaviourOf(workload: KubeObject, defaultReadyAfterMs: number): SimulatedBehaviour {
  const template = (workload['spec'] as { template?: { metadata?: KubeObject['metadata'] } } | undefined)
    ?.template;
  const annotations = { ...template?.metadata?.annotations, ...workload.metadata.annotations };
  const fate = annotations[SIMULATE_ANNOTATION];
  const after = annotations[READY_AFTER_ANNOTATION];
  const afterMs = after === undefined ? undefined : parseGoDuration(after);
  return {
    fate: fate === 'fail' || fate === 'hang' ? fate : 'succeed',
    readyAfterMs: afterMs === undefined || afterMs < 0 ? defaultReadyAfterMs : afterMs,
  };
}
