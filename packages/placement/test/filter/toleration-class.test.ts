import { describe, expect, it } from 'vitest';
import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import type { Placement, Toleration } from '@berth/ocm/kind/placement';
import { instantFromEpochMs, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { Instant } from '@berth/kube/model/rfc3339';
import {
  TolerationClass,
  judgeTaint,
  matchTolerations,
  toleratedUntilMs,
  tolerationProblem,
  toleratesTaint,
} from '../../src/filter/toleration-class.ts';
import { bitsToArray } from '../../src/snapshot/bitset.ts';
import { ClusterIndex } from '../../src/snapshot/cluster-index.ts';

const ADDED = '2026-03-01T12:00:00Z';
const taint = (over: Partial<Taint> = {}): Taint => ({
  key: 'gpu',
  value: 'a100',
  effect: 'NoSelect',
  timeAdded: ADDED,
  ...over,
});
const at = (text: string): Instant => parseRfc3339(text) ?? instantFromEpochMs(Number.NaN);
const forAMinute: Toleration = { key: 'gpu', operator: 'Exists', tolerationSeconds: 60 };

describe('tolerationProblem', () => {
  it.each<[string, Toleration, string | undefined]>([
    ['a key and a value', { key: 'gpu', value: 'a100' }, undefined],
    ['everything', { operator: 'Exists' }, undefined],
    ['no key with Equal', { operator: 'Equal', value: 'x' }, 'If the key is empty, operator must be Exists.'],
    ['nothing at all', {}, 'If the key is empty, operator must be Exists.'],
    [
      'a value with Exists',
      { key: 'gpu', operator: 'Exists', value: 'x' },
      'If the operator is Exists, the value should be empty.',
    ],
  ])('%s', (_name, toleration, want) => {
    expect(tolerationProblem(toleration)).toBe(want);
  });
});

describe('toleratesTaint', () => {
  it.each<[string, Toleration, Partial<Taint>, boolean]>([
    ['the same key and value', { key: 'gpu', value: 'a100' }, {}, true],
    ['the operator Equal, written out', { key: 'gpu', operator: 'Equal', value: 'a100' }, {}, true],
    ['another value', { key: 'gpu', value: 'h100' }, {}, false],
    ['no value for a taint with one', { key: 'gpu' }, {}, false],
    ['no value for a taint without one', { key: 'gpu' }, { value: undefined }, true],
    ['another key', { key: 'disk', operator: 'Exists' }, {}, false],
    ['any value of a key', { key: 'gpu', operator: 'Exists' }, {}, true],
    ['everything', { operator: 'Exists' }, {}, true],
    ['its effect alone', { operator: 'Exists', effect: 'NoSelect' }, {}, true],
    ['another effect', { operator: 'Exists', effect: 'NoSelectIfNew' }, {}, false],
    ['an unknown operator', { key: 'gpu', operator: 'Lt' as 'Equal', value: 'a100' }, {}, false],
  ])('%s', (_name, toleration, over, want) => {
    expect(toleratesTaint(toleration, taint(over))).toBe(want);
  });
});

describe('a toleration for a minute', () => {
  it.each([
    { now: '2026-03-01T12:00:00Z', want: 'tolerated' },
    { now: '2026-03-01T12:00:59.999999999Z', want: 'tolerated' },
    // Upstream asks whether now is after the end or equal to it.
    { now: '2026-03-01T12:01:00Z', want: 'expired' },
    { now: '2026-03-01T12:01:00.000000001Z', want: 'expired' },
  ])('at $now the taint is $want', ({ now, want }) => {
    expect(matchTolerations(taint(), [forAMinute], at(now)).verdict).toBe(want);
  });

  it('of zero seconds has ended when the taint was added', () => {
    expect(matchTolerations(taint(), [{ ...forAMinute, tolerationSeconds: 0 }], at(ADDED)).verdict).toBe(
      'expired',
    );
  });

  it('has long ended for a taint that does not say when it was added', () => {
    expect(matchTolerations(taint({ timeAdded: undefined }), [forAMinute], at(ADDED)).verdict).toBe(
      'expired',
    );
  });

  it('yields to a longer one behind it, whatever the order', () => {
    const later = at('2026-03-01T12:05:00Z');
    const forAnHour = { ...forAMinute, tolerationSeconds: 3_600 };
    const want = { verdict: 'tolerated', toleration: forAnHour, until: at('2026-03-01T13:00:00Z') };
    expect(matchTolerations(taint(), [forAMinute, forAnHour], later)).toEqual(want);
    expect(matchTolerations(taint(), [forAnHour, forAMinute], later)).toEqual(want);
  });
});

describe('toleratedUntilMs', () => {
  const cluster = (name: string, ...taints: Taint[]): ManagedCluster => ({
    ...{ apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' },
    ...{ metadata: { name }, spec: { taints } },
  });
  const clusters = [cluster('c1', taint()), cluster('c2', taint({ timeAdded: '2026-03-01T11:59:30Z' }))];
  const untilMs = (
    selected: readonly string[],
    { now = ADDED, tolerations = [forAMinute], requeueAtMs = undefined as number | undefined } = {},
  ): number => {
    const metadata = { namespace: 'team-a', name: 'web' };
    const placement = { metadata, spec: { tolerations } } as unknown as Placement;
    return toleratedUntilMs({ placement, selected, requeueAtMs }, { now, clusters });
  };

  it.each([
    { name: 'the first end of a selected cluster', selected: ['c1', 'c2'], want: '2026-03-01T12:00:30Z' },
    { name: 'only of a selected one', selected: ['c1'], want: '2026-03-01T12:01:00Z' },
  ])('is $name', ({ selected, want }) => {
    expect(untilMs(selected)).toBe(Date.parse(want));
  });

  it('is what the decision says, if that is earlier', () => {
    expect(untilMs(['c1'], { requeueAtMs: 7 })).toBe(7);
  });

  it('is never where no toleration ends', () => {
    expect(untilMs(['c1'], { tolerations: [{ key: 'gpu', operator: 'Exists' }] })).toBe(Infinity);
    expect(untilMs(['c1'], { now: '2026-03-01T12:01:00Z' })).toBe(Infinity);
    expect(untilMs(['unknown'])).toBe(Infinity);
  });
});

describe('judgeTaint', () => {
  const now = at(ADDED);
  it.each<{
    name: string;
    over?: Partial<Taint>;
    tolerations?: Toleration[];
    decided?: boolean;
    want: string;
  }>([
    { name: 'NoSelect refuses', want: 'refused' },
    { name: 'NoSelect refuses a cluster that is decided as well', decided: true, want: 'refused' },
    { name: 'NoSelectIfNew refuses a new cluster', over: { effect: 'NoSelectIfNew' }, want: 'refused' },
    {
      name: 'NoSelectIfNew leaves a decided one',
      over: { effect: 'NoSelectIfNew' },
      decided: true,
      want: 'already-decided',
    },
    { name: 'PreferNoSelect refuses none', over: { effect: 'PreferNoSelect' }, want: 'prefer-only' },
    {
      name: 'a toleration without an end tolerates',
      tolerations: [{ key: 'gpu', operator: 'Exists' }],
      want: 'tolerated',
    },
  ])('$name', ({ over, tolerations = [], decided = false, want }) => {
    expect(judgeTaint(taint(over), tolerations, { now, decided }).verdict).toBe(want);
  });
});

describe('TolerationClass', () => {
  const cluster = (name: string, ...taints: Taint[]) => ({
    apiVersion: 'cluster.open-cluster-management.io/v1' as const,
    kind: 'ManagedCluster' as const,
    metadata: { name },
    spec: { taints },
  });
  const clusterIndex = new ClusterIndex(
    [
      cluster('a'),
      cluster('b', taint()),
      cluster('c', taint({ effect: 'NoSelectIfNew' })),
      cluster('d', taint({ effect: 'PreferNoSelect' })),
      cluster('e', taint({ timeAdded: '2026-03-01T12:00:30Z' })),
    ],
    [],
  );
  const members = ({ passNew, passDecided, avoided }: TolerationClass) =>
    [passNew, passDecided, avoided].map((bits) =>
      [...bitsToArray(bits)].map((number) => clusterIndex.names[number]).join(''),
    );

  it('distinguishes new and decided clusters, and those to avoid', () => {
    expect(members(new TolerationClass([], clusterIndex, at(ADDED)))).toEqual(['ad', 'acd', 'd']);
  });

  it('judges again when the clock reaches an end, not before, and then says which clusters changed', () => {
    const timed = new TolerationClass([forAMinute], clusterIndex, at(ADDED));
    expect(members(timed)).toEqual(['abcde', 'abcde', '']);
    expect([...timed.timedClusters]).toEqual([1, 2, 3, 4]);
    expect(timed.advance(clusterIndex, at('2026-03-01T12:00:59Z'))).toEqual([]);
    expect(timed.advance(clusterIndex, at('2026-03-01T12:01:00Z'))).toEqual([1, 2, 3]);
    expect(members(timed)).toEqual(['ade', 'acde', 'd']);
    expect(timed.advance(clusterIndex, at('2026-03-01T12:01:29Z'))).toEqual([]);
    expect(timed.advance(clusterIndex, at('2026-03-01T12:01:30Z'))).toEqual([4]);
    expect(timed.advance(clusterIndex, at('2026-03-02T00:00:00Z'))).toEqual([]);
  });

  it('forgets that a cluster is timed when its taint changes', () => {
    const timed = new TolerationClass([forAMinute], clusterIndex, at(ADDED));
    expect(timed.refresh(1, [taint({ key: 'disk' })], at(ADDED))).toBe(true);
    expect(timed.timedClusters.has(1)).toBe(false);
    expect(timed.refresh(1, [taint({ key: 'disk' })], at(ADDED))).toBe(false);
  });

  it('reports the first toleration that is wrong', () => {
    expect(new TolerationClass([forAMinute, {}], clusterIndex, at(ADDED)).problem).toMatch(/key is empty/);
    expect(new TolerationClass([forAMinute], clusterIndex, at(ADDED)).problem).toBeUndefined();
  });
});
