import { describe, expect, it } from 'vitest';
import type { PublishState } from '../../../../src/core/publish/judge/publish-state.ts';
import type { PlacementEvent } from '../../../../src/core/publish/machine/state/placement-event.ts';
import {
  decidedText,
  type DecisionRecord,
  sealRecord,
} from '../../../../src/core/publish/record/decision-record.ts';
import { publishedClusters } from '../../../../src/core/publish/pages/decision-page.ts';
import { INITIAL_STATE } from '../../../../src/core/publish/machine/state/placement-state.ts';
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
} from './machine-fixture.ts';

const look = (over: Parameters<typeof factsOf>[0]): PlacementEvent => ({
  kind: 'reconcile',
  facts: factsOf(over),
});
const PERSISTED: PlacementEvent = { kind: 'persisted' };
const RECORDED: PlacementEvent = { kind: 'recorded', hash: 'r1' };
const LOST: PlacementEvent = { kind: 'failed', of: 'pages', error: new Error('x'), mayArrive: false };

const SPEC = digest('{}').slice(0, 16);
/** Published on c1, c2 and c3, on a page of version 50. */
const PAGE = pageOf('50', ['c1', 'c2', 'c3']);
const REMEMBERED: PublishState = { specHash: SPEC, publishedAtMs: NOW - 60_000, removals: [], record: 'r0' };
const published = wholePass(
  look({ clusters: ['c1', 'c2', 'c3'], pages: [PAGE], remembered: REMEMBERED }),
).state;

describe('a change whose last answer was lost, before another result is judged', () => {
  /** c1 was to go; the write was carried out. */
  const { state: lost } = run(
    [look({ clusters: ['c2', 'c3'], pages: [PAGE], remembered: published.remembered }), PERSISTED, LOST],
    published,
  );
  const done = pageOf('52', ['c2', 'c3']);
  const after = (over: Parameters<typeof factsOf>[0], pages = [done]) =>
    run(
      [look({ pages, remembered: lost.remembered, ...over }), { kind: 'pages-read', pages, seen: pages }],
      lost,
    );
  const record = {
    kind: 'record',
    entry: { added: [], removed: ['c1'], found: { atMs: NOW, counts: true } },
  };
  const none = { percent: 0, atLeast: 0 };

  it.each([
    { name: 'is published', over: { clusters: ['c3'] } },
    { name: 'is held', over: { clusters: ['c3'], budget: none } },
  ])('gets its own record where the next result $name', ({ over }) => {
    expect(after(over).actions).toMatchObject([record]);
  });

  it('counts beside the next change, which begins then', () => {
    const { state, actions } = run([RECORDED], after({ clusters: ['c3'] }).state);
    expect(lines(actions)).toEqual(['remember', 'report-found', 'persist']);
    expect(state.remembered).toMatchObject({
      removals: [{ atMs: NOW, count: 1 }],
      change: { added: [], removed: ['c2'] },
    });
  });

  it('is the last publication where the next result is held', () => {
    // Others took c3 meanwhile, and the write that restores it fails.
    const held = after({ clusters: ['c3'], budget: none }, [pageOf('54', ['c2'])]);
    const { state, actions } = run([RECORDED], held.state);
    expect(lines(actions)).toContain('write web-decision-1 c2,c3');
    const { last } = run([LOST], state).state;
    expect(last?.leaving).toBeUndefined();
    expect(publishedClusters(last?.pages ?? [])).toEqual(['c2', 'c3']);
    expect(state.remembered?.change).toBeUndefined();
  });

  it('waits for its record while the group of a page is unknown and the next result is held', () => {
    const unlabelled = [pageOf('53', ['c2', 'c3'], { group: 'x' })];
    const { state, actions } = after({ clusters: ['c3'], budget: none }, unlabelled);
    expect(lines(actions)).not.toContain('record');
    expect(state.remembered?.change).toMatchObject({ removed: ['c1'] });
  });
});

describe('a change whose record was made later, before its process was killed', () => {
  const change = { atMs: NOW - 10, added: ['c4'], removed: ['c1'] };
  const remembered: PublishState = { ...REMEMBERED, change };
  const recordOf = (found: Partial<DecisionRecord>) =>
    sealRecord(digest, {
      placement: WEB,
      publishedAt: new Date(change.atMs).toISOString(),
      engineVersion: '0',
      commit: null,
      inventoryRevision: 1,
      inputs: '',
      decided: decidedText(resultOf(webPlacement(), ['c2', 'c3', 'c4'])),
      clusters: 3,
      published: null,
      added: ['c4'],
      removed: ['c1'],
      released: null,
      afterRestart: true,
      ...found,
    }).record;

  it.each([
    { name: 'is done where the record shows all of it', found: { counts: true as const }, isDone: true },
    {
      name: 'is done where the record has its release',
      found: { released: { token: '0a1b2c3d4e5f', by: 'ada' } },
      isDone: true,
    },
    { name: 'is not done where the record shows a part of it', found: {}, isDone: false },
  ])('$name, although others took what it added', ({ found, isDone }) => {
    const records = { newest: recordOf(found), oldestAtMs: -Infinity, areReadable: true };
    const pages = [pageOf('55', ['c2', 'c3'])];
    const budget = { percent: 0, atLeast: 0 };
    const { state } = wholePass(look({ clusters: ['c3'], pages, remembered, records, budget }));
    expect(state.remembered?.change).toEqual(isDone ? undefined : change);
  });

  it('is not done where the record was made before it, although the clock was set back', () => {
    const newest = recordOf({ publishedAt: new Date(NOW).toISOString(), counts: true });
    const records = { newest, oldestAtMs: -Infinity, areReadable: true };
    const known = { ...remembered, record: newest.hash };
    const pages = [pageOf('55', ['c1', 'c2', 'c3'])];
    const { state } = wholePass(
      look({ pages, remembered: known, records, budget: { percent: 0, atLeast: 0 } }),
    );
    expect(state.remembered?.change).toEqual(change);
  });
});

describe('a publication that was found on the pages', () => {
  const budget = { percent: 0, atLeast: 0 };

  it('is the last one from its record on, although a write before it had failed', () => {
    const pages = [pageOf('55', ['c1', 'c2'])];
    const before = { ...INITIAL_STATE, last: { uid: 'u1', pages: [], leaving: [] } };
    const { state } = wholePass(
      look({ pages, budget, remembered: { ...REMEMBERED, record: undefined } }),
      before,
    );
    expect(state.last?.leaving).toBeUndefined();
    expect(publishedClusters(state.last?.pages ?? [])).toEqual(['c1', 'c2']);
  });

  it('is the last one although the placement was made again', () => {
    const pages = [pageOf('55', ['c1', 'c2'])];
    const done = wholePass(look({ placement: webPlacement({ uid: 'u2' }), pages, budget }));
    expect(done.lines).toContain('label web-decision-1');
    expect(publishedClusters(done.state.last?.pages ?? [])).toEqual(['c1', 'c2']);
  });
});

describe('a released change that goes on with one that was cut short', () => {
  const budget = { percent: 0, atLeast: 1 };
  const cut: PublishState = {
    ...REMEMBERED,
    change: { atMs: NOW - 1_000, added: [], removed: ['c1', 'c4'] },
  };
  const over = { clusters: ['c3'], pages: [PAGE], remembered: cut, budget };
  // c4 went; c1 is there. With c2 three go, and the budget is one.
  const known = { ...published, remembered: cut };
  const held = wholePass(look(over), known);
  const code = held.actions.flatMap((action) => (action.kind === 'report-held' ? [action.hold.code] : []))[0];

  it('leaves what went before to count until it is done', () => {
    const placement = webPlacement({ annotations: { 'berth.dev/release': code ?? '' } });
    const { state } = run([look({ ...over, placement }), PERSISTED, LOST], known);
    expect(state.remembered).toMatchObject({
      removals: [{ atMs: NOW - 1_000, count: 1 }],
      change: { removed: ['c1', 'c2', 'c4'], released: { token: code } },
    });
  });
});

describe('a change that was cut short, where the next result wants a cluster again', () => {
  it('counts the cluster until the pages list it', () => {
    // c4 went; c1 is there.
    const cut = { ...REMEMBERED, change: { atMs: NOW - 1_000, added: [], removed: ['c1', 'c4'] } };
    const facts = { clusters: ['c2', 'c3', 'c4'], pages: [PAGE], remembered: cut };
    const { state } = run([look(facts), PERSISTED, LOST], { ...published, remembered: cut });
    expect(state.remembered?.change).toMatchObject({ added: [], removed: ['c1', 'c4'] });
  });
});

describe('a change that begins while the clock is wrong', () => {
  it('forgets no removal before it is done', () => {
    const removals = [{ atMs: NOW, count: 2 }];
    const remembered = { ...REMEMBERED, removals };
    const later = NOW + 3_600_000;
    const facts = { clusters: ['c2', 'c3'], pages: [PAGE], remembered };
    const { state } = run([look(facts), PERSISTED, LOST], { ...published, remembered }, later);
    expect(state.remembered).toMatchObject({ removals, change: { removed: ['c1'] } });
    expect(wholePass(look(facts), { ...published, remembered }, later).state.remembered).toMatchObject({
      removals: [{ atMs: later, count: 1 }],
    });
  });
});

describe('a process that knows no past, where only scores changed a moment ago', () => {
  it('reads the pages before it waits and takes them for what is published', () => {
    const remembered: PublishState = { ...REMEMBERED, publishedAtMs: NOW - 1_000, recalled: true };
    const facts = { clusters: ['c3', 'c2', 'c1'], pages: [PAGE], remembered };
    expect(lines(run([look(facts)]).actions)).toEqual(['read-pages']);
    const { state, lines: done } = wholePass(look(facts));
    expect(done).toContain('end, again after 59000');
    expect(publishedClusters(state.last?.pages ?? [])).toEqual(['c1', 'c2', 'c3']);
  });
});

describe('a process that knows no past, where a cluster is on two pages', () => {
  it('takes what they list for published, although the write that lists it once fails', () => {
    const pages = [pageOf('60', ['c1', 'c2']), pageOf('61', ['c2', 'c3'], { name: 'web-decision-2' })];
    const facts = { clusters: ['c1'], pages, remembered: REMEMBERED, budget: { percent: 0, atLeast: 0 } };
    const reading = run([look(facts)]);
    expect(lines(reading.actions)).toContain('read-pages');
    const events: readonly PlacementEvent[] = [{ kind: 'pages-read', pages, seen: pages }, RECORDED];
    const first = run(events, reading.state);
    expect(lines(first.actions)).toContain('write web-decision-2 c3');
    const { last } = run([LOST], first.state).state;
    expect(publishedClusters(last?.pages ?? [])).toEqual(['c1', 'c2', 'c3']);
    expect(last?.leaving).toBeUndefined();
  });
});
