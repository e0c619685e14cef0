import { describe, expect, it } from 'vitest';
import type { Taint } from '@berth/ocm/kind/managed-cluster';
import type { PlacementSpec } from '@berth/ocm/kind/placement';
import type { PairExplanation, PlacementExplanation } from '@berth/placement/explain/verdict/explanation';
import { cluster, placement, snapshot } from '../../../packages/placement/test/explain/snapshots.ts';
import { explainInSnapshot } from '../../../src/controllers/explanations/explain-offline.ts';
import {
  applicationPlace,
  noPlaceNote,
  type PlaceFacts,
} from '../../../src/core/dashboard/application-view.ts';
import { placementView } from '../../../src/core/dashboard/placement-view.ts';

const REF = { namespace: 'team', name: 'web' };
const TAINT: Taint = { key: 'maintenance', effect: 'NoSelect', timeAdded: '2026-03-01T11:59:00Z' };
const TOLERATES = { key: 'maintenance', operator: 'Exists', tolerationSeconds: 600 } as const;
const ALWAYS = ['it no longer has what the placement asks for', 'it gets a taint that is not tolerated'];
const sight = { namespaces: 'all', allClusters: true } as const;

/** Of `a`, beside `b` and `c`. */
function place(
  spec: PlacementSpec,
  taints: readonly Taint[] = [],
  more: Partial<PlaceFacts> = {},
  name = 'a',
) {
  const given = snapshot({
    placements: [placement(spec)],
    clusters: [cluster('a', {}, { taints }), cluster('b'), cluster('c')],
  });
  const explained = (asked: object) => explainInSnapshot(given, REF, asked).explanation;
  const explanation = explained({}) as PlacementExplanation;
  const facts = { placement: placement(spec), published: ['a'], now: given.now };
  const view = placementView(explanation, facts, { sight, isVisible: () => true });
  const pair = explained({ cluster: name }) as PairExplanation;
  return applicationPlace({ view, explanation, pair, records: [], open: [], ...more }, (one) => one !== 'b');
}

const moves = (...names: readonly string[]) => ({ count: names.length, names });

describe('why an Application is where it is', () => {
  it.each([
    [
      'with a rank',
      place({ numberOfClusters: 2 }),
      'team/web asks for 2 clusters, and a is number 1 of 3 with 100 points',
      ['it loses 1 point', ...ALWAYS],
    ],
    ['without one', place({}), 'team/web asks for every cluster, and a passes its filters', ALWAYS],
    [
      'for as long as a taint is tolerated',
      place({ tolerations: [TOLERATES] }, [TAINT]),
      'team/web asks for every cluster, and a passes its filters',
      ['taint maintenance is still there at 2026-03-01T12:09:00Z', ...ALWAYS],
    ],
    [
      'no more, by a taint',
      place({}, [TAINT]),
      'taint maintenance:NoSelect, there for 1m: is not tolerated',
      [],
    ],
    [
      'no more, by its rank, without the name of another cluster',
      place({ numberOfClusters: 2 }, [], {}, 'c'),
      'c is number 3 of 3 with 100 points',
      [],
    ],
  ])('%s', (_name, { because, leavesIf }, wantBecause, wantLeaves) => {
    expect({ because, leavesIf }).toEqual({ because: wantBecause, leavesIf: wantLeaves });
  });

  it('names no cluster outside the project', () => {
    const { table } = place({ numberOfClusters: 2 });
    const names = [...table.selected, ...table.next].map((row) => row.cluster);
    expect(names).toEqual(['a', 'a cluster outside this project', 'c']);
    expect(table.cut).toMatchObject({ kind: 'score', cluster: 'a cluster outside this project' });
  });

  it.each([
    ['joined last', [moves('a'), moves()], { at: '2026-03-01T11:00:00Z', commit: '1a2b' }],
    ['left since', [moves(), moves('a')], undefined],
    ['of other clusters', [moves('b'), moves('c')], undefined],
  ] as const)('knows since when by records: %s', (_name, [added, removed], want) => {
    const commit = { id: '1a2b' } as PlaceFacts['records'][number]['commit'];
    const records = [{ publishedAt: '2026-03-01T11:00:00Z', commit, added, removed }];
    expect(place({}, [], { records }).since).toEqual(want);
  });

  it('knows the pull requests that would take it away, and whether that would be held', () => {
    const removing = (name: string, over: object) => ({ ...REF, removed: [{ cluster: name }], ...over });
    const open = [
      removing('a', {}),
      removing('a', { held: {} }),
      removing('b', {}),
      removing('a', { name: 'api' }),
    ];
    const asPlan = (one: object, at: number) => ({
      number: at + 1,
      url: undefined,
      plan: { placements: [one] },
    });
    const found = place({}, [], { open: open.map(asPlan) as unknown as PlaceFacts['open'] });
    expect(found.removedBy).toEqual([
      { number: 1, url: undefined, isHeld: false },
      { number: 2, url: undefined, isHeld: true },
    ]);
  });

  it.each([
    [
      { set: undefined, read: [], cluster: 'a' },
      'No ApplicationSet made argocd/web, so no placement put it here.',
    ],
    [
      { set: 'argocd/web', read: [], cluster: 'a' },
      'ApplicationSet argocd/web reads no placement that this page may show.',
    ],
    [
      { set: 'argocd/web', read: ['team/web'], cluster: undefined },
      'The destination of argocd/web is no ManagedCluster that Berth knows.',
    ],
    [{ set: 'argocd/web', read: ['team/web'], cluster: 'a' }, 'team/web does not have a published.'],
  ])('says why there is no placement: %o', (found, want) => {
    expect(noPlaceNote('argocd/web', found)).toBe(want);
  });
});
