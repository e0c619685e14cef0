import { describe, expect, it } from 'vitest';
import type { PlacementStatus } from '@berth/ocm/kind/placement';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { listedClusters } from '../../../../src/core/publish/pages/decision-page.ts';
import type { PlacementEvent } from '../../../../src/core/publish/machine/state/placement-event.ts';
import { INITIAL_STATE } from '../../../../src/core/publish/machine/state/placement-state.ts';
import { factsOf, pageOf, resultOf, run, webPlacement, WEB, wholePass } from './machine-fixture.ts';

/** The hub of version 900 went back to version 500. */
const published = pageOf('850', ['c1', 'c2']);
const backup = pageOf('400', ['c1', 'c2', 'c3']);
const restored = (
  pages: readonly KubeObject[] = [published],
  status: PlacementStatus | undefined = undefined,
): PlacementEvent => ({
  kind: 'hub-changed',
  atRestore: {
    hubVersion: '500',
    seen: {
      key: WEB,
      placement: webPlacement({}, { status }),
      pages,
      seenPage: (name) => pages.find(({ metadata }) => metadata.name === name),
    },
  },
});
const saw = (
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  isLeader = false,
): PlacementEvent => ({
  kind: 'page-changed',
  change: { before, after },
  isLeader,
  isPlacementThere: true,
});

describe('what was published before the hub was restored', () => {
  it.each([
    { name: 'when the watch shows the page of the backup', events: [saw(published, backup)] },
    { name: 'when the backup has no such page', events: [saw(published, undefined)] },
    { name: 'after a second restore', events: [saw(published, backup), restored([backup])] },
  ])('is known $name', ({ events }) => {
    const { beforeRestore } = run([restored(), ...events]).state;
    expect(listedClusters(beforeRestore?.pages ?? [])).toEqual(['c1', 'c2']);
  });

  it.each([
    { name: 'a leader publishes on the restored hub', after: pageOf('501', ['c1']), isLeader: false },
    { name: 'a leader deletes a page of the backup', after: undefined, isLeader: false },
    {
      name: 'the watch shows what the leader before this one published',
      after: pageOf('501', ['c1']),
      isLeader: true,
    },
  ])('is forgotten when $name', ({ after, isLeader }) => {
    const events = [restored(), saw(published, backup), saw(backup, after, isLeader)];
    expect(run(events).state.beforeRestore).toBeUndefined();
  });

  it.each([
    { count: 2, isKnown: true },
    { count: 1, isKnown: true },
    { count: 3, isKnown: false },
  ])(
    'is known when the pages list 2 clusters and the status counts $count: $isKnown',
    ({ count, isKnown }) => {
      const { beforeRestore } = run([restored([published], { numberOfSelectedClusters: count })]).state;
      expect(beforeRestore !== undefined).toBe(isKnown);
    },
  );

  it.each([
    { name: 'stands by', isLeader: false },
    { name: 'leads', isLeader: true },
  ])('is forgotten when the backup is newer than what a process that $name had seen', ({ isLeader }) => {
    const seen = pageOf('399', ['c1', 'c2']);
    const events = [restored([seen]), saw(seen, backup, isLeader)];
    expect(run(events).state.beforeRestore).toBeUndefined();
  });

  it.each([
    { name: 'of pages whose group cannot be read', pages: [pageOf('850', ['c1'], { group: 'x' })] },
    { name: 'where there are none', pages: [] },
  ])('is not known $name', ({ pages }) => {
    expect(run([restored(pages)]).state.beforeRestore).toBeUndefined();
  });

  it.each([
    { name: 'is what a change is judged by after this process took over', uid: 'u1', want: ['c1', 'c2'] },
    { name: 'is not that of another placement of the same name', uid: 'u2', want: ['c1', 'c2', 'c3'] },
  ])('$name', ({ uid, want }) => {
    const facts = factsOf({
      placement: webPlacement({ uid }),
      clusters: ['c1'],
      pages: [backup],
      budget: { percent: 0, atLeast: 0 },
    });
    const { state } = run([restored(), saw(published, backup)]);
    // Nothing may go, so that what was published stays.
    expect(wholePass({ kind: 'reconcile', facts }, state).lines).toContain(`final-pages ${want.join()}`);
  });

  it.each([
    { name: 'is compared with the records again where it is unknown', last: undefined, isRecorded: true },
    {
      name: 'is compared again where a change to it is not complete',
      last: { uid: 'u1', pages: [], leaving: [] },
      isRecorded: true,
    },
    {
      name: 'is not compared again where it is known',
      last: { uid: 'u1', pages: [], leaving: undefined },
      isRecorded: false,
    },
  ])('$name', ({ last, isRecorded }) => {
    const facts = factsOf({
      clusters: ['c1'],
      pages: [backup],
      budget: { percent: 0, atLeast: 0 },
      remembered: { specHash: '', publishedAtMs: 0, removals: [], record: 'r0' },
    });
    const { state } = run([restored([])], { ...INITIAL_STATE, isCompared: true, last });
    expect(wholePass({ kind: 'reconcile', facts }, state).lines.includes('report-found')).toBe(isRecorded);
  });

  it('lists each cluster once', () => {
    const pages = [published, pageOf('851', ['c2', 'c4'], { name: 'web-decision-2' })];
    const { beforeRestore } = run([restored(pages)]).state;
    expect(listedClusters(beforeRestore?.pages ?? [])).toEqual(['c1', 'c2', 'c4']);
  });

  it('is not needed where this process knows its last publication', () => {
    const { state } = wholePass({ kind: 'reconcile', facts: factsOf({ clusters: ['c1'] }) });
    expect(run([restored()], state).state.beforeRestore).toBeUndefined();
  });

  it.each([
    { name: 'the publication is known again', outcome: 'scheduled' },
    { name: 'the placement is left to another scheduler', outcome: 'skipped' },
  ] as const)('is forgotten when $name', ({ outcome }) => {
    const placement = webPlacement();
    const facts = factsOf({ placement, pages: [backup], result: resultOf(placement, ['c1', 'c2'], outcome) });
    const { state } = run([restored(), saw(published, backup, true)]);
    expect(wholePass({ kind: 'reconcile', facts }, state).state.beforeRestore).toBeUndefined();
  });
});
