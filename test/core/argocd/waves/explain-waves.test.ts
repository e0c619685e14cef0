import { describe, expect, it } from 'vitest';
import {
  type ApplicationsRead,
  explainWaves,
  type WavesToExplain,
} from '../../../../src/core/argocd/waves/explain-waves.ts';
import { clusterWaves } from '@berth/placement/explain/explain-placement';
import { describeClusterWave } from '../../../../packages/placement/src/explain/text/describe-pair.ts';
import { describeWaves } from '../../../../packages/placement/src/explain/text/describe-placement.ts';
import type { Application } from '../../../../src/core/argocd/argocd-kinds.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';

const NOW = Date.UTC(2026, 7, 1, 12);

const shop = (written?: object, parameters: object = { waves: '3', soak: '10m' }): KubeObject => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'ApplicationSet',
  metadata: {
    name: 'shop',
    namespace: 'argocd',
    ...(written && { annotations: { 'berth.dev/waves': JSON.stringify({ 'team/web': written }) } }),
  },
  spec: {
    generators: [
      {
        plugin: {
          configMapRef: { name: 'berth' },
          input: { parameters: { placement: 'team/web', ...parameters } },
        },
      },
    ],
  },
});
const application = (cluster: string, health: string): Application => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Application',
  metadata: { name: `shop-${cluster}`, namespace: 'argocd' },
  spec: { destination: { name: cluster } },
  status: {
    health: { status: health, lastTransitionTime: '2026-08-01T10:00:00Z' },
    sync: { status: 'Synced' },
  },
});
const asked = (...groups: readonly (readonly string[])[]): WavesToExplain => ({
  placement: 'team/web',
  groups: groups.map((names, index) => ({
    name: '',
    index,
    decisions: names.map((clusterName) => ({ clusterName, reason: '' })),
  })),
  clusters: [],
  nowMs: NOW,
});
const read = (...applications: readonly Application[]): ApplicationsRead => ({
  applications,
  problem: undefined,
});
const WRITTEN = [{ served: ['a'] }, { held: ['b'] }, { held: ['c'] }];
const lines = (set: KubeObject, what: WavesToExplain, applications: ApplicationsRead): readonly string[] =>
  describeWaves(explainWaves(set, what, applications) ?? { applicationSet: '', waves: [], problem: 'none' });

describe('the waves of a placement', () => {
  it('are listed with the clusters of each, and why a gate is closed', () => {
    const text = lines(shop(WRITTEN), asked(['a'], ['b'], ['c']), read(application('a', 'Degraded')));
    expect(text).toEqual([
      'WAVE  GATE    SERVED  WAITING',
      'w0    open    a       -',
      'w1    closed  -       b',
      'w2    closed  -       c',
      'closed from w1 on: wave w0 is not healthy: Application shop-a is Degraded',
    ]);
  });

  it('stay as they are written, where the groups of the decision are others', () => {
    const text = lines(shop(WRITTEN), asked(['b', 'c'], ['a']), read(application('a', 'Degraded')));
    expect(text.slice(1, 4)).toEqual([
      'w0    open    a       -',
      'w1    closed  -       b',
      'w2    closed  -       c',
    ]);
  });

  it('tell of a closed gate also where no cluster waits', () => {
    const served = [{ served: ['a'] }, { served: ['b'] }];
    const text = lines(
      shop(served),
      asked(['a'], ['b']),
      read(application('a', 'Degraded'), application('b', 'Healthy')),
    );
    expect(text).toEqual([
      'WAVE  GATE    SERVED  WAITING',
      'w0    open    a       -',
      'w1    closed  b       -',
      'w2    closed  -       -',
      'closed from w1 on: wave w0 is not healthy: Application shop-a is Degraded',
    ]);
  });

  it('are all open without a soak time', () => {
    const text = lines(
      shop([{ served: ['a'] }, { served: ['b'] }], { waves: '2' }),
      asked(['a'], ['b']),
      read(),
    );
    expect(text.slice(1)).toEqual(['w0    open  a       -', 'w1    open  b       -']);
  });

  it.each([
    ['nothing is written', shop(), asked(['a']), 'they are not written on the ApplicationSet'],
    ['the number is wrong', shop(WRITTEN, { waves: 'x' }), asked(['a']), 'input.parameters.waves must be'],
    ['nothing is published', shop(WRITTEN), { ...asked(), groups: undefined }, 'no decision is published'],
  ])('are not known where %s', (_, set, what, problem) => {
    const [first, ...more] = lines(set, what, read());
    expect(first).toContain(`not known: ${problem}`);
    expect(more).toEqual([]);
  });

  it('are closed where the Applications cannot be read', () => {
    const unreadable = { applications: [], problem: 'Applications cannot be read: forbidden' };
    expect(lines(shop(WRITTEN), asked(['a'], ['b'], ['c']), unreadable).at(-1)).toBe(
      'closed from w1 on: wave w0 is not known to be healthy: Applications cannot be read: forbidden',
    );
  });

  it('are none of an ApplicationSet that asks for none', () => {
    expect(explainWaves(shop(WRITTEN, {}), asked(['a']), read())).toBeUndefined();
  });
});

describe('the wave of one cluster', () => {
  const found = explainWaves(shop(WRITTEN), asked(['a'], ['b'], ['c']), read(application('a', 'Healthy')));
  const of = (cluster: string): readonly string[] =>
    clusterWaves(found === undefined ? [] : [found], cluster).map(describeClusterWave);

  it.each([
    ['a', ['wave w0 of ApplicationSet argocd/shop: served']],
    [
      'b',
      [
        'wave w1 of ApplicationSet argocd/shop: waits: its wave is open, and Berth has not written yet that it is served',
      ],
    ],
    ['c', ['wave w2 of ApplicationSet argocd/shop: waits: wave w1 has no Application yet for b']],
    ['of-no-decision', []],
  ])('%s', (cluster, want) => {
    expect(of(cluster)).toEqual(want);
  });
});
