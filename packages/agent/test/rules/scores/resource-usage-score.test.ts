import { describe, expect, it } from 'vitest';
import {
  availableByRequests,
  availableByUsage,
  type NodeUsage,
  type PodRequests,
} from '../../../src/rules/scores/available-resources.ts';
import { resourceUsageScores } from '../../../src/rules/scores/resource-usage-score.ts';

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
    const scores = resourceUsageScores(availableByRequests(nodes, pods));
    expect(scores.map(({ name }) => name)).toEqual(['cpuAvailable', 'memAvailable']);
    expect(scores.map(({ value }) => value)).toEqual(want);
  });
});

describe('resourceUsageScores from 0', () => {
  it.each([
    {
      name: "OCM's article: 12 of 24 CPUs, 49265496Ki",
      nodes: [node('24', '49265496Ki')],
      used: '12',
      want: [12, 4],
    },
    { name: 'a little', nodes: [node('500m', '1Gi')], used: '0', want: [0, 0] },
    { name: 'nothing', nodes: [node('12', '0')], used: '12', want: [-100, -100] },
    { name: 'all', nodes: [node('112', '1Ti')], used: '12', want: [100, 100] },
  ])('$name', ({ nodes, used, want }) => {
    const available = availableByRequests(nodes, [pod({ containers: [container(used)] })]);
    expect(resourceUsageScores(available, 0).map(({ value }) => value)).toEqual(want);
  });
});

describe('availableByUsage', () => {
  const NOW = '2026-03-01T12:00:00Z';
  const named = (name: string, ...amounts: Parameters<typeof node>) => ({
    metadata: { name },
    ...node(...amounts),
  });
  const usage = (name: string, cpu: string, memory: string, timestamp = NOW): NodeUsage => ({
    metadata: { name },
    timestamp,
    usage: { cpu, memory },
  });
  const given = { nowMs: Date.parse(NOW), maxAgeMs: 300_000 };
  const nodes = [named('n1', '4', '8Gi'), named('n2', '4', '8Gi'), named('drained', '4', '8Gi', true)];

  it('is what the nodes that take pods do not use', () => {
    const metrics = [
      usage('n1', '1500000000n', '2Gi'),
      usage('n2', '250m', '1048576Ki'),
      usage('gone', '9', '1'),
    ];
    expect(availableByUsage(nodes, metrics, given)).toEqual({ cpu: 6.25, memory: 13 * 1024 ** 3 });
  });

  it.each([
    ['one is missing', [usage('n1', '1', '1')], 'there are no metrics of node n2'],
    [
      'one is old',
      [usage('n1', '1', '1'), usage('n2', '1', '1', '2026-03-01T11:54:59Z')],
      'the metrics of node n2 are of 2026-03-01T11:54:59Z',
    ],
    [
      'one is of the future',
      [usage('n1', '1', '1', '2027-01-01T00:00:00Z'), usage('n2', '1', '1')],
      'the metrics of node n1 are of 2027-01-01T00:00:00Z',
    ],
    ['one has no time', [{ metadata: { name: 'n1' } }], 'the metrics of node n1 are of no time'],
    [
      'one is negative',
      [usage('n1', '-1', '1'), usage('n2', '1', '1')],
      'the metrics of node n1 have no valid usage',
    ],
    [
      'one cannot be read',
      [usage('n1', 'all', '1'), usage('n2', '1', '1')],
      'the metrics of node n1 have no valid usage',
    ],
  ])('says nothing where %s', (_what, metrics, want) => {
    expect(availableByUsage(nodes, metrics, given)).toBe(want);
  });
});
