import { describe, expect, it } from 'vitest';
import type {
  PlacementAction,
  PlacementEvent,
} from '../../../../src/core/publish/machine/state/placement-event.ts';
import type {
  PassFacts,
  PlacementState,
} from '../../../../src/core/publish/machine/state/placement-state.ts';
import { decidedText, sealRecord } from '../../../../src/core/publish/record/decision-record.ts';
import type { PublishState } from '../../../../src/core/publish/judge/publish-state.ts';
import {
  digest,
  factsOf,
  lines,
  NOW,
  pageOf,
  resultOf,
  run,
  WEB,
  webPlacement,
  wholePass,
  written,
} from './machine-fixture.ts';

const look = (over: Parameters<typeof factsOf>[0]): PlacementEvent => ({
  kind: 'reconcile',
  facts: factsOf(over),
});
const failed = (of: 'pages' | 'status' | 'record', mayArrive = false): PlacementEvent => ({
  kind: 'failed',
  of,
  error: new Error('x'),
  mayArrive,
});
const RESUMED: PlacementEvent = { kind: 'resumed' };
const RECORDED: PlacementEvent = { kind: 'recorded', hash: 'r1' };
const PERSISTED: PlacementEvent = { kind: 'persisted' };

/** Published on c1 and c2, on a page of version 50. */
const PAGE = pageOf('50', ['c1', 'c2']);
const REMEMBERED = { specHash: '', publishedAtMs: NOW - 60_000, removals: [], record: 'r0' };
const published = wholePass(look({ clusters: ['c1', 'c2'], pages: [PAGE], remembered: REMEMBERED })).state;
const next = (over: Parameters<typeof factsOf>[0] = {}): PlacementEvent =>
  look({ pages: [PAGE], remembered: published.remembered, ...over });
const answered = (actions: readonly PlacementAction[], version: string): PlacementEvent => {
  const write = actions.find((action) => action.kind === 'write-page');
  if (write === undefined) throw new Error(`nothing is written: ${lines(actions).join()}`);
  return { kind: 'page-written', after: written(write, version), seen: write.before };
};
/** c3 replaces c1: its removal is on the disk, and the write is under way. */
const writing = run([next({ clusters: ['c2', 'c3'] }), PERSISTED], published);
/** The same, written: the status patch is under way. */
const finishing = run([answered(writing.actions, '51')], writing.state);

const HELD = webPlacement(
  {},
  {
    status: {
      conditions: [
        {
          type: 'berth.dev/Held',
          status: 'True',
          reason: 'RemovalBudgetExceeded',
          message: '',
          lastTransitionTime: new Date(NOW).toISOString(),
        },
      ],
    },
  },
);

describe('a pass', () => {
  it.each([
    {
      name: 'writes a first publication: the page, the status, the record',
      facts: { clusters: ['c1'] },
      want: [
        'create web-decision-1',
        'write web-decision-1 c1',
        'patch-status',
        'yield',
        'record',
        'remember',
        'report-published',
        'final-pages c1',
        'end done',
      ],
    },
    { name: 'waits for nothing where there is no result', facts: { result: undefined }, want: ['end done'] },
    {
      name: 'takes no result of another object of this name',
      facts: { result: resultOf(webPlacement({ uid: 'u0' }), ['c1']) },
      want: ['end done'],
    },
    {
      name: 'forgets a placement that is being deleted',
      facts: { placement: webPlacement({ deletionTimestamp: '2026-01-01T00:00:00Z' }) },
      want: ['forget', 'final-pages ', 'end done'],
    },
  ])('$name', ({ facts, want }) => {
    expect(wholePass(look(facts)).lines).toEqual(want);
  });

  it('writes nothing where all is as it should be', () => {
    expect(
      wholePass(next({ clusters: ['c1', 'c2'] }), published).lines.filter((line) =>
        /write|record/.test(line),
      ),
    ).toEqual([]);
  });

  it('is not begun twice', () => {
    expect(run([next({ clusters: [] })], writing.state)).toEqual({ state: writing.state, actions: [] });
  });

  it('leaves a defect behind and reads the pages again', () => {
    const { state, actions } = run([{ kind: 'abandoned', error: new Error('x') }], writing.state);
    expect(lines(actions)).toEqual(['end failed']);
    expect(lines(run([next({ clusters: ['c2', 'c3'] })], state).actions)).toEqual(['read-pages']);
  });
});

/** One row is one race: where the placement stands, what happens then, and what is to be done about it. */
const RACES: readonly {
  readonly name: string;
  readonly given: PlacementState;
  readonly events: readonly PlacementEvent[];
  readonly want: readonly string[];
  readonly state?: Partial<PlacementState>;
}[] = [
  {
    name: 'what a change takes away is on the disk before it is taken',
    given: published,
    events: [next({ clusters: ['c2', 'c3'] })],
    want: ['persist'],
  },
  {
    name: 'what only comes needs no such note',
    given: published,
    events: [next({ clusters: ['c1', 'c2', 'c3'] })],
    want: ['write web-decision-1 c1,c2,c3'],
  },
  {
    name: 'the status is sent before the record is made',
    given: writing.state,
    events: [answered(writing.actions, '51')],
    want: ['patch-status', 'yield'],
  },
  {
    name: 'the pass ends when both are done: the record first',
    given: finishing.state,
    events: [RESUMED, RECORDED],
    want: ['remember', 'report-published'],
  },
  {
    name: 'the pass ends when both are done: the status first',
    given: run([{ kind: 'status-written', after: pageOf('9', []), seen: undefined }], finishing.state).state,
    events: [RESUMED, RECORDED],
    want: ['remember', 'report-published', 'final-pages c2,c3', 'end done'],
  },
  {
    name: 'a status patch that fails does not lose the record',
    given: finishing.state,
    events: [failed('status'), RESUMED, RECORDED],
    want: ['remember', 'report-published', 'end failed'],
  },
  {
    name: 'a record that fails leaves the publication to be recorded by the next process',
    given: run([RESUMED, failed('record')], finishing.state).state,
    events: [{ kind: 'status-written', after: pageOf('9', []), seen: undefined }],
    want: ['end failed'],
  },
  {
    name: 'an answer that no stage waits for changes nothing',
    given: published,
    events: [RESUMED, RECORDED, PERSISTED, failed('pages')],
    want: [],
  },
  {
    name: 'a refused write: what it took away is remembered, and the pages are read again',
    given: writing.state,
    events: [failed('pages'), next({ clusters: ['c2', 'c3'] })],
    want: ['read-pages'],
    state: { isUncertain: true, suspects: [] },
  },
  {
    name: 'a write of unknown outcome: its page gets another version before anything is planned',
    given: run([failed('pages', true)], writing.state).state,
    events: [next({ clusters: ['c2', 'c3'] }), { kind: 'pages-read', pages: [PAGE], seen: [PAGE] }],
    want: ['fence web-decision-1'],
    state: { suspects: ['web-decision-1'] },
  },
  {
    name: 'a fence that fails is tried again',
    given: run(
      [failed('pages', true), next({}), { kind: 'pages-read', pages: [PAGE], seen: [PAGE] }],
      writing.state,
    ).state,
    events: [failed('pages', true)],
    want: ['end failed'],
    state: { suspects: ['web-decision-1'], isUncertain: true },
  },
  {
    name: 'the look before the commit is whole waits, and the commit ends the wait',
    given: run([next({ clusters: ['c1'], snapshotConsistency: () => 'partial' })], published).state,
    events: [{ kind: 'commit-complete' }],
    want: ['enqueue'],
    state: { waitsForCommit: false },
  },
  {
    name: 'a commit that was not waited for is no reason to look',
    given: published,
    events: [{ kind: 'commit-complete' }],
    want: [],
  },
  {
    name: 'half of a commit moves nothing',
    given: published,
    events: [next({ clusters: ['c1'], snapshotConsistency: () => 'partial' })],
    want: ['final-pages c1,c2', 'end, again after 2000'],
    state: { waitsForCommit: true },
  },
  {
    name: 'half of a commit ends no hold',
    given: { ...published, status: undefined },
    events: [next({ clusters: ['c1', 'c2'], placement: HELD, snapshotConsistency: () => 'partial' })],
    want: ['final-pages c1,c2', 'end, again after 2000'],
    state: { waitsForCommit: true },
  },
  {
    name: 'a hold ends with the whole of a commit',
    given: { ...published, status: undefined },
    events: [next({ clusters: ['c1', 'c2'], placement: HELD })],
    want: ['patch-status', 'yield'],
  },
  {
    name: 'more of the commit came since it was decided: it is decided again',
    given: published,
    events: [next({ clusters: ['c1'], snapshotConsistency: () => 'outdated' })],
    want: ['decide again inputs', 'final-pages c1,c2', 'end, again after 2000'],
  },
  {
    name: 'another change than the approved one waits while the commit may still make that',
    given: published,
    events: [
      next({
        clusters: ['c1'],
        plans: [{ tokens: ['000000000000'], commit: 'a', followedAtMs: undefined, held: false }],
      }),
    ],
    want: ['final-pages c1,c2', 'end, again after 500'],
  },
  {
    name: 'a hub that was restored: own writes are news',
    given: published,
    events: [
      { kind: 'hub-changed', atRestore: undefined },
      {
        kind: 'page-changed',
        change: { before: pageOf('51', ['c2']), after: PAGE },
        isLeader: true,
        isPlacementThere: true,
      },
    ],
    want: ['decide again decisions'],
    state: { pages: new Map() },
  },
  {
    name: 'a hub that was restored: the pages are read before anything is planned',
    given: published,
    events: [{ kind: 'hub-changed', atRestore: undefined }, next({ clusters: ['c2', 'c3'] })],
    want: ['read-pages'],
  },
  {
    name: 'works matter only to a handover',
    given: published,
    events: [{ kind: 'works-changed' }],
    want: [],
  },
];

describe('races', () => {
  it.each(RACES)('$name', ({ given, events, want, state }) => {
    const after = run(events, given);
    expect(lines(after.actions)).toEqual(want);
    if (state !== undefined) expect(after.state).toMatchObject(state);
  });
});

describe('a restored hub without a page that the watch still shows', () => {
  it('gets the page under its old name', () => {
    const { state } = run([{ kind: 'hub-changed', atRestore: undefined }], published);
    const reading = run([next({ clusters: ['c1', 'c2'] })], state);
    const { actions } = run([{ kind: 'pages-read', pages: [], seen: [PAGE] }], reading.state);
    expect(lines(actions)).toContain('create web-decision-1');
  });
});

describe('a process that knows no past', () => {
  const held = { clusters: ['c1'], budget: { percent: 0, atLeast: 0 } };

  it('reads the pages before it takes them for what is published', () => {
    const first = run([look({ ...held, pages: [PAGE] })]);
    expect(lines(first.actions)).toEqual(['read-pages']);
    // The process before it wrote that; the watch shows it later.
    const newer = pageOf('60', ['c1', 'c2', 'c3']);
    const { state } = run([{ kind: 'pages-read', pages: [newer], seen: [PAGE] }, RECORDED], first.state);
    expect(state.last?.pages.flatMap(({ decisions }) => decisions.map((d) => d.clusterName))).toEqual([
      'c1',
      'c2',
      'c3',
    ]);
  });

  it('does not read them where the result can be published', () => {
    expect(lines(run([look({ clusters: ['c1', 'c2', 'c3'], pages: [PAGE] })]).actions)).not.toContain(
      'read-pages',
    );
  });

  it('does not read them after a restart, when it listed them itself', () => {
    const actions = run([look({ ...held, pages: [PAGE], remembered: REMEMBERED })]).actions;
    expect(lines(actions)).not.toContain('read-pages');
  });
});

describe('what others change while the first result waits', () => {
  it.each([
    { name: 'a page that they delete is restored', pages: [], want: 'create web-decision-1' },
    {
      name: 'a cluster that they take is restored',
      pages: [pageOf('51', ['c1'])],
      want: 'write web-decision-1 c1,c2',
    },
  ])('$name', ({ pages, want }) => {
    const waiting = {
      clusters: ['c1'],
      snapshotConsistency: (): ReturnType<PassFacts['snapshotConsistency']> => 'partial',
    };
    const { state } = wholePass(look({ ...waiting, pages: [PAGE], remembered: REMEMBERED }));
    expect(wholePass(look({ ...waiting, pages, remembered: REMEMBERED }), state).lines).toContain(want);
  });
});

describe('a change of a process that was killed', () => {
  const pages = [pageOf('52', ['c2'])];
  const change = { atMs: NOW - 10, added: ['c2'], removed: ['c1'] };

  it.each([
    { name: 'its removals count once', added: ['c2'], removed: ['c1'], listed: ['c2'], counts: 1 },
    {
      name: 'they count although a later change brought a cluster back',
      added: ['c2'],
      removed: ['c1', 'c3'],
      listed: ['c2', 'c3'],
      counts: 1,
    },
  ])('gets no second record where it has one: $name', ({ added, removed, listed, counts }) => {
    const { record: newest } = sealRecord(digest, {
      placement: WEB,
      publishedAt: new Date(NOW - 5).toISOString(),
      engineVersion: '0',
      commit: null,
      inventoryRevision: 1,
      inputs: '',
      decided: decidedText(resultOf(webPlacement(), listed)),
      clusters: listed.length,
      published: null,
      added,
      removed,
      released: null,
    });
    const records = { newest, oldestAtMs: -Infinity, areReadable: true };
    const remembered = { ...REMEMBERED, change: { ...change, added, removed } };
    const facts = { clusters: listed, pages: [pageOf('52', listed)], remembered, records };
    const { state, lines: done } = wholePass(look(facts));
    expect(done).not.toContain('record');
    expect(state.remembered).toMatchObject({
      removals: [{ atMs: change.atMs, count: counts }],
      record: newest.hash,
      change: undefined,
    });
  });

  it('leaves no removal that counts where it was released, and its release is used', () => {
    const released = { token: '0a1b2c3d4e5f' };
    const remembered: PublishState = {
      ...REMEMBERED,
      removals: [{ atMs: NOW - 1, count: 2 }],
      change: { ...change, released },
    };
    const { state, lines: done } = wholePass(look({ clusters: ['c2'], pages, remembered }));
    expect(done).toContain('report-found');
    expect(state.remembered).toMatchObject({ removals: [], spent: [released.token], released });
    expect(state.remembered?.change).toBeUndefined();
  });
});

describe('a result that was decided for an earlier spec', () => {
  const result = resultOf(webPlacement(), ['c2', 'c3']);
  const passAt = (generation: number) =>
    wholePass(next({ placement: webPlacement({ generation }), result }), published).lines;

  it('moves nothing: the placement is decided again first', () => {
    expect(passAt(2)).toEqual(['decide again inputs', 'final-pages c1,c2', 'end, again after 2000']);
  });

  it('is published where the spec is still the same', () => {
    expect(passAt(1)).toContain('write web-decision-1 c2,c3');
  });
});

describe('a change whose last answer was lost', () => {
  /** c1 was to go; the write was carried out. */
  const lost = run([next({ clusters: ['c2'] }), PERSISTED, failed('pages', true)], published);
  const done = pageOf('52', ['c2']);
  const again = run(
    [
      look({ clusters: ['c2'], pages: [PAGE], remembered: lost.state.remembered }),
      { kind: 'pages-read', pages: [done], seen: [PAGE] },
      { kind: 'page-fenced', page: pageOf('53', ['c2']) },
      RESUMED,
    ],
    lost.state,
  );

  it('gets its record, with what it took away', () => {
    expect(again.actions).toMatchObject([{ kind: 'record', entry: { added: [], removed: ['c1'] } }]);
  });

  it('counts once', () => {
    expect(run([RECORDED], again.state).state.remembered).toMatchObject({
      removals: [{ atMs: NOW, count: 1 }],
      record: 'r1',
    });
  });
});

describe('a released change', () => {
  const earlier = [{ atMs: NOW - 1_000, count: 2 }];
  const remembered = { ...REMEMBERED, specHash: digest('{}').slice(0, 16), removals: earlier };
  const over = { clusters: ['c2'], pages: [PAGE], remembered, budget: { percent: 0, atLeast: 2 } };
  const held = wholePass(look(over), published);
  const code = held.actions.flatMap((action) => (action.kind === 'report-held' ? [action.hold.code] : []))[0];
  const placement = webPlacement({ annotations: { 'berth.dev/release': code ?? '' } });

  it('that fails does not make earlier removals count for nothing', () => {
    const { state } = run([look({ ...over, placement }), PERSISTED, failed('pages')], held.state);
    expect(state.remembered).toMatchObject({ removals: earlier, change: { released: { token: code } } });
  });

  it('waits for the commit that brings the release, although it was decided before that', () => {
    const snapshotConsistency = (ofLastCommit: boolean) => (ofLastCommit ? 'partial' : 'consistent');
    const { state, actions } = run([look({ ...over, placement, snapshotConsistency })], held.state);
    expect(state.waitsForCommit).toBe(true);
    expect(actions.map(({ kind }) => kind)).toEqual(['final-pages', 'end']);
  });
});
