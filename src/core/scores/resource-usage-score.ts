import { sums, type NodeResources, type ResourceList } from '../registration/agent/cluster-resources.ts';
import { parseQuantity, quantityToNumber } from '../model/quantity.ts';

/** core/v1 Pod, as far as its requests count. */
export interface PodRequests {
  readonly spec?:
    | {
        readonly containers?: readonly Container[] | undefined;
        readonly initContainers?: readonly Container[] | undefined;
        readonly overhead?: ResourceList | undefined;
      }
    | undefined;
  readonly status?: { readonly phase?: string | undefined } | undefined;
}

interface Container {
  readonly resources?: { readonly requests?: ResourceList | undefined } | undefined;
  readonly restartPolicy?: string | undefined;
}

/** Of a cluster with so much available, and of every larger one, the score is 100. */
const FULL_SCORE = { cpu: 100, memory: 1024 ** 4 };

/**
 * How much CPU and memory a cluster has left: allocatable of the nodes that take pods, less what pods request. −100 for nothing left, 100
 * for 100 CPUs or 1 TiB.
 * Source: open-cluster-management-io/addon-contrib `resource-usage-collect-addon/pkg/addon/agent/calculate.go`. Unlike there, pods that
 * have ended do not count, and an init container counts against its own pod and not against the whole cluster.
 */
export function resourceUsageScores(
  nodes: readonly NodeResources[],
  pods: readonly PodRequests[],
): readonly { readonly name: string; readonly value: number }[] {
  const allocatable = sums(
    nodes.filter(({ spec }) => spec?.unschedulable !== true).map(({ status }) => status?.allocatable),
  );
  const left = (resource: 'cpu' | 'memory'): number => {
    const total = allocatable.get(resource);
    const requested = pods.reduce((sum, pod) => sum + requestOf(pod, resource), 0);
    return (total === undefined ? 0 : quantityToNumber(total)) - requested;
  };
  return [
    { name: 'cpuAvailable', value: score(left('cpu'), FULL_SCORE.cpu) },
    { name: 'memAvailable', value: score(left('memory'), FULL_SCORE.memory) },
  ];
}

function score(available: number, full: number): number {
  if (available >= full) return 100;
  if (available <= 0) return -100;
  // As Go converts to an integer: towards zero. Without a negative zero.
  return Math.trunc((200 * available) / full - 100) + 0;
}

/**
 * What the scheduler reserves for a pod.
 * Source: kubernetes/component-helpers, resource/helpers.go (PodRequests).
 */
function requestOf({ spec, status }: PodRequests, resource: string): number {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return 0;
  let sidecars = 0;
  let starting = 0;
  for (const container of spec?.initContainers ?? []) {
    const request = requested(container, resource);
    if (container.restartPolicy === 'Always') sidecars += request;
    starting = Math.max(starting, container.restartPolicy === 'Always' ? sidecars : sidecars + request);
  }
  const running = (spec?.containers ?? []).reduce((sum, one) => sum + requested(one, resource), sidecars);
  return Math.max(running, starting) + amount(spec?.overhead?.[resource]);
}

function requested({ resources }: Container, resource: string): number {
  return amount(resources?.requests?.[resource]);
}

function amount(value: string | number | undefined): number {
  const quantity = value === undefined ? undefined : parseQuantity(value);
  return quantity === undefined ? 0 : quantityToNumber(quantity);
}
