import { expect, it } from 'vitest';
import { resourceUsageQueries } from '../../../src/rules/scores/resource-usage-score.ts';

it.each([
  {
    name: 'of many clusters',
    owner: { kind: 'label', label: 'cluster' } as const,
    allocatable:
      'sum by (cluster) (kube_node_status_allocatable{resource="cpu"} unless on (cluster, node) (kube_node_spec_unschedulable == 1))',
    requested:
      'sum by (cluster) (kube_pod_container_resource_requests{resource="cpu"} * on (cluster, namespace, pod) group_left () max by (cluster, namespace, pod) (kube_pod_status_phase{phase=~"Pending|Running|Unknown"} == 1))',
  },
  {
    name: 'of one cluster',
    owner: { kind: 'cluster', name: 'edge-7' } as const,
    allocatable:
      'sum by () (kube_node_status_allocatable{resource="cpu"} unless on (node) (kube_node_spec_unschedulable == 1))',
    requested:
      'sum by () (kube_pod_container_resource_requests{resource="cpu"} * on (namespace, pod) group_left () max by (namespace, pod) (kube_pod_status_phase{phase=~"Pending|Running|Unknown"} == 1))',
  },
])('asks for allocatable less requests $name', ({ owner, allocatable, requested }) => {
  const queries = resourceUsageQueries(owner);
  expect([...queries.keys()]).toEqual(['cpuAvailable', 'memAvailable']);
  expect(queries.get('cpuAvailable')?.query).toBe(`${allocatable} - (${requested} or 0 * ${allocatable})`);
  expect(queries.get('memAvailable')?.query).toContain('kube_node_status_allocatable{resource="memory"}');
});
