import { parseQuantity, quantityToNumber } from '@berth/kube/model/quantity';
import { epochMsOf, parseRfc3339 } from '@berth/kube/model/rfc3339';
import { type NodeResources, type ResourceList, sums } from '../registration/next-status.ts';

/** Available CPUs of a cluster, and memory in bytes. May be negative. */
export interface AvailableResources {
  readonly cpu: number;
  readonly memory: number;
}

/** The fields of a core/v1 Pod that determine its requests. */
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

/**
 * metrics.k8s.io/v1beta1 NodeMetrics: average usage of a node in the window before the timestamp.
 */
export interface NodeUsage {
  readonly metadata: { readonly name: string };
  /** RFC 3339 */
  readonly timestamp?: string | undefined;
  readonly usage?: ResourceList | undefined;
}

type NamedNode = NodeResources & { readonly metadata: { readonly name: string } };

/** Allocatable resources of schedulable nodes minus requests of pods. */
export function availableByRequests(
  nodes: readonly NodeResources[],
  pods: readonly PodRequests[],
): AvailableResources {
  const allocatable = allocatableOf(nodes);
  const available = (resource: 'cpu' | 'memory'): number =>
    allocatable[resource] - pods.reduce((sum, pod) => sum + requestOf(pod, resource), 0);
  return { cpu: available('cpu'), memory: available('memory') };
}

/** Allocatable resources of schedulable nodes minus their usage. */
export function availableByUsage(
  nodes: readonly NamedNode[],
  metrics: readonly NodeUsage[],
  fresh: { readonly nowMs: number; readonly maxAgeMs: number },
): AvailableResources | string {
  const schedulable = nodes.filter(({ spec }) => spec?.unschedulable !== true);
  const byName = new Map(metrics.map((one) => [one.metadata.name, one]));
  let [cpu, memory] = [0, 0];
  for (const { metadata } of schedulable) {
    const found = byName.get(metadata.name);
    if (found === undefined) return `there are no metrics of node ${metadata.name}`;
    const measured = parseRfc3339(found.timestamp ?? '');
    if (measured === undefined || Math.abs(epochMsOf(measured) - fresh.nowMs) > fresh.maxAgeMs)
      return `the metrics of node ${metadata.name} are of ${found.timestamp ?? 'no time'}`;
    const [usedCpu, usedMemory] = [usageOf(found, 'cpu'), usageOf(found, 'memory')];
    if (usedCpu === undefined || usedMemory === undefined)
      return `the metrics of node ${metadata.name} have no valid usage`;
    cpu += usedCpu;
    memory += usedMemory;
  }
  const allocatable = allocatableOf(schedulable);
  return { cpu: allocatable.cpu - cpu, memory: allocatable.memory - memory };
}

function usageOf({ usage }: NodeUsage, resource: string): number | undefined {
  const quantity = parseQuantity(usage?.[resource] ?? '');
  const value = quantity === undefined ? undefined : quantityToNumber(quantity);
  return value === undefined || value < 0 ? undefined : value;
}

function allocatableOf(nodes: readonly NodeResources[]): AvailableResources {
  const total = sums(
    nodes.filter(({ spec }) => spec?.unschedulable !== true).map(({ status }) => status?.allocatable),
  );
  const amountOf = (resource: 'cpu' | 'memory'): number => {
    const quantity = total.get(resource);
    return quantity === undefined ? 0 : quantityToNumber(quantity);
  };
  return { cpu: amountOf('cpu'), memory: amountOf('memory') };
}

/**
 * Resources that the scheduler reserves for a pod. Source: kubernetes/component-helpers,
 * resource/helpers.go (PodRequests).
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
