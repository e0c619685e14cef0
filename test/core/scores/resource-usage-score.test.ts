import { describe, expect, it } from 'vitest';
import { type PodRequests, resourceUsageScores } from '../../../src/core/scores/resource-usage-score.ts';

const node = (cpu: string, memory: string, unschedulable = false) => ({
  spec: { unschedulable },
  status: { allocatable: { cpu, memory } },
});
const container = (cpu: string, restartPolicy?: string) => ({
  resources: { requests: { cpu } },
  restartPolicy,
});
const pod = (spec: NonNullable<PodRequests['spec']>, phase = 'Running'): PodRequests => ({
  spec,
  status: { phase },
});

describe('resourceUsageScores', () => {
  it.each([
    { name: 'no nodes', nodes: [], pods: [], want: [-100, -100] },
    { name: 'half of what counts', nodes: [node('50', '512Gi')], pods: [], want: [0, 0] },
    { name: 'all and more', nodes: [node('400', '2Ti')], pods: [], want: [100, 100] },
    {
      name: 'nodes that take no pods',
      nodes: [node('50', '512Gi'), node('50', '512Gi', true)],
      pods: [],
      want: [0, 0],
    },
    { name: 'fractions go towards zero', nodes: [node('25500m', '1Gi')], pods: [], want: [-49, -99] },
    {
      name: 'requests of containers',
      nodes: [node('60', '0')],
      pods: [pod({ containers: [container('4'), container('6')] })],
      want: [0, -100],
    },
    {
      name: 'more requested than there is',
      nodes: [node('1', '1Gi')],
      pods: [pod({ containers: [container('5')] })],
      want: [-100, -99],
    },
    {
      name: 'pods that have ended',
      nodes: [node('50', '0')],
      pods: [
        pod({ containers: [container('50')] }, 'Succeeded'),
        pod({ containers: [container('50')] }, 'Failed'),
      ],
      want: [0, -100],
    },
    {
      name: 'an init container larger than its pod',
      nodes: [node('60', '0')],
      pods: [pod({ initContainers: [container('10')], containers: [container('2')] })],
      want: [0, -100],
    },
    {
      name: 'init containers of two pods',
      nodes: [node('70', '0')],
      pods: [1, 2].map(() => pod({ initContainers: [container('10')], containers: [container('2')] })),
      want: [0, -100],
    },
    {
      name: 'a sidecar',
      nodes: [node('60', '0')],
      pods: [pod({ initContainers: [container('4', 'Always')], containers: [container('6')] })],
      want: [0, -100],
    },
    {
      name: 'overhead',
      nodes: [node('60', '0')],
      pods: [pod({ containers: [container('9')], overhead: { cpu: '1' } })],
      want: [0, -100],
    },
    {
      name: 'what cannot be read',
      nodes: [node('50', 'much')],
      pods: [pod({ containers: [container('many')] })],
      want: [0, -100],
    },
  ])('$name', ({ nodes, pods, want }) => {
    const scores = resourceUsageScores(nodes, pods);
    expect(scores.map(({ name }) => name)).toEqual(['cpuAvailable', 'memAvailable']);
    expect(scores.map(({ value }) => value)).toEqual(want);
  });
});
