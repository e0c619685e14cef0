import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PlacementEvents } from '../../../src/controllers/events/placement-events.ts';
import { scheduleAll } from '@berth/placement/engine';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { ObjectKey } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Placement } from '@berth/ocm/kind/placement';
import { InputError, TransientError } from '@berth/runtime/errors';
import { BY_SCORE, snapshotOf } from '../../../packages/placement/test/snapshots.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const SNAPSHOT = snapshotOf({
  clusters: [
    { name: 'c1', score: 12 },
    { name: 'c2', score: 40 },
    { name: 'c3', score: -7 },
  ],
  spec: { numberOfClusters: 1, prioritizerPolicy: BY_SCORE },
});
const RESULT = scheduleAll(SNAPSHOT)[0] as ScheduleResult;

const MINUTE_MS = 60_000;
const NAME = 'web.held-0a1b2c3d4e5f';
const NOT_FOUND = new InputError('is not there', { code: 'kube.notfound', subject: 'Event' });

const placementOf = (name: string): Placement => ({
  ...RESULT.placement,
  metadata: { ...RESULT.placement.metadata, name, uid: `uid-${name}` },
});

describe('events about placements', () => {
  let clock: FakeClock;
  let written: KubeObject[];
  let patched: object[];
  /** Names of Events on the hub. */
  let known: Set<string>;
  let answer: (event: KubeObject) => Promise<KubeObject>;
  let events: PlacementEvents;
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    [patched, known] = [[], new Set()];
    [clock, written, stop] = [new FakeClock(), [], new AbortController()];
    answer = (event) => Promise.resolve(event);
    const create = (_kind: unknown, event: KubeObject): Promise<KubeObject> => {
      written.push(event);
      return answer(event);
    };
    const mergePatch = (_kind: unknown, key: ObjectKey, patch: object): Promise<KubeObject> => {
      patched.push({ ...key, ...patch });
      return known.has(key.name) ? Promise.resolve({} as KubeObject) : Promise.reject(NOT_FOUND);
    };
    events = new PlacementEvents({
      api: { create, mergePatch },
      clock,
      random: () => 0.5,
      log: new SilentLogger(),
    });
    running = events.run(stop.signal);
  });
  afterEach(async () => {
    stop.abort();
    await running;
  });

  const pageWritten = (name: string, change: 'create' | 'write' = 'write'): void =>
    events.pageWritten({
      ...{ placement: placementOf(name), change, page: `${name}-decision-1`, uid: 'page' },
      result: RESULT,
    });

  it('say when the decision cannot be published and when it can, once each', async () => {
    const refused = new InputError('is too long', { code: 'kube.invalid', subject: 'PlacementDecision' });
    const [web, gone] = [placementOf('web'), placementOf('gone')];
    events.failed(web, new TransientError('does not answer', { code: 'kube.unreachable', subject: 'hub' }));
    events.succeeded('team-a/web', web);
    for (const placement of [web, web, gone]) events.failed(placement, refused);
    for (const time of [1, 2]) events.succeeded(namespacedName(web.metadata), time === 1 ? web : undefined);
    events.succeeded(namespacedName(gone.metadata), undefined);
    events.failed(web, refused);
    await clock.advance(1_000);
    expect(written.map(({ reason, regarding }) => [reason, (regarding as ObjectKey).name])).toEqual([
      ['PublishFailing', 'web'],
      ['PublishFailing', 'gone'],
      ['PublishRecovered', 'web'],
      ['PublishFailing', 'web'],
    ]);
    expect(written[0]).toMatchObject({ type: 'Warning', note: expect.stringContaining('is too long') });
  });

  it('say once what is held, with its approval code, under the same name after a restart', async () => {
    const hold = { reason: 'WouldEmpty', message: 'All 3 clusters would be removed.', token: '0a1b2c3d4e5f' };
    events.held(placementOf('web'), hold);
    events.held(placementOf('api'), { ...hold, reason: 'SecondWriter', token: '' });
    events.held(placementOf('web'), { ...hold, reason: 'InventoryStale' });
    await clock.advance(1_000);
    expect(
      written.map(({ metadata, reason, action, note }) => [metadata.name, reason, action, note]),
    ).toEqual([
      [
        'web.held-0a1b2c3d4e5f',
        'Held',
        'WouldEmpty',
        'Approval code 0a1b2c3d4e5f. All 3 clusters would be removed.',
      ],
      ['api.held-secondwriter', 'Held', 'SecondWriter', 'All 3 clusters would be removed.'],
    ]);
  });

  it('of a hold that lasts are renewed twice an hour, and made again where they are gone', async () => {
    const conditions = [
      {
        type: 'berth.dev/Held',
        status: 'True' as const,
        reason: 'WouldEmpty',
        message: 'It would be empty. Set berth.dev/release: "0a1b2c3d4e5f".',
        lastTransitionTime: new Date(clock.now()).toISOString(),
      },
    ];
    let held = [{ ...placementOf('web'), status: { conditions } }];
    const renewing = events.renew(() => held, stop.signal);
    await clock.advance(10 * MINUTE_MS);
    expect([...patched, ...written]).toEqual([]);
    await clock.advance(50 * MINUTE_MS);
    expect(patched).toMatchObject([{ namespace: 'team', name: NAME, series: { count: 2 } }]);
    expect(written).toMatchObject([
      {
        metadata: { name: NAME },
        eventTime: expect.stringContaining(conditions[0]?.lastTransitionTime.slice(0, 19) ?? ''),
        reason: 'Held',
        note: expect.stringMatching(/^Approval code 0a1b2c3d4e5f/),
        series: { count: 2 },
      },
    ]);
    known.add(NAME);
    await clock.advance(60 * MINUTE_MS);
    expect(patched).toMatchObject([{}, { series: { count: 3 } }, { series: { count: 4 } }]);
    expect(written).toHaveLength(1);
    held = [];
    await clock.advance(60 * MINUTE_MS);
    expect(patched).toHaveLength(3);
    stop.abort();
    await renewing;
  });

  it('are written in order, about the placement and its page, as OCM writes them', async () => {
    pageWritten('web', 'create');
    pageWritten('web');
    events.published(RESULT, SNAPSHOT);
    await clock.advance(0);
    expect(written.map(({ reason, note }) => [reason, note])).toEqual([
      ['DecisionCreate', 'Decision web-decision-1 is created with placement web in namespace team'],
      ['DecisionUpdate', 'Decision web-decision-1 is updated with placement web in namespace team'],
      ['ScoreUpdate', 'c2:40 c1:12 c3:-7'],
    ]);
    expect(written[0]).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      metadata: { namespace: 'team' },
      reportingController: 'placementController',
      action: 'DecisionCreated',
      type: 'Normal',
      regarding: { kind: 'Placement', namespace: 'team', name: 'web', uid: 'uid-web' },
      related: { kind: 'PlacementDecision', namespace: 'team', name: 'web-decision-1', uid: 'page' },
    });
  });

  it('name the selected clusters alone where the inputs are gone', async () => {
    events.published(RESULT, undefined);
    await clock.advance(0);
    expect(written.map(({ note }) => note)).toEqual(['c2:40']);
  });

  it('compute no scores for which the note has no room', async () => {
    const selected = Array.from({ length: 100 }, (_, at) => `cluster-${String(at).padStart(4, '0')}`);
    const result = { ...RESULT, selected, selectedScores: selected.map(() => 7) };
    const unread = new Proxy(SNAPSHOT, {
      get(): never {
        throw new Error('the snapshot was read');
      },
    });
    events.published(result, unread);
    await clock.advance(0);
    expect(written).toHaveLength(1);
    expect(written[0]?.['note']).toMatch(/^cluster-0000:7 .* cluster-00\d\d:7 \.{6}$/);
  });

  it('name the scores of several placements of one snapshot, each with what is published of it', async () => {
    const other = snapshotOf({
      clusters: [
        { name: 'c1', score: 12 },
        { name: 'c2', score: 40 },
      ],
      spec: { numberOfClusters: 1, prioritizerPolicy: BY_SCORE },
    });
    for (const snapshot of [SNAPSHOT, SNAPSHOT, other]) events.published(RESULT, snapshot);
    await clock.advance(0);
    expect(written.map(({ note }) => note)).toEqual([
      'c2:40 c1:12 c3:-7',
      'c2:40 c1:12 c3:-7',
      'c2:40 c1:12',
    ]);
  });

  it('are left out for a placement that is written all the time, and told again later', async () => {
    for (let times = 0; times < 100; times++) pageWritten('busy');
    pageWritten('calm');
    await clock.advance(10_000);
    expect(written.filter(({ note }) => String(note).includes('busy'))).toHaveLength(25);
    expect(written.filter(({ note }) => String(note).includes('calm'))).toHaveLength(1);
    await clock.advance(300_000);
    for (let times = 0; times < 100; times++) pageWritten('busy');
    await clock.advance(10_000);
    expect(written.filter(({ note }) => String(note).includes('busy'))).toHaveLength(26);
  });

  it('are written at ten a second after the first fifty, and no more than 500 wait', async () => {
    for (let at = 0; at < 2_000; at++) pageWritten(`p${at}`);
    await clock.advance(0);
    expect(written).toHaveLength(50);
    await clock.advance(10_000);
    expect(written).toHaveLength(150);
    await clock.advance(3_600_000);
    expect(written.length).toBeGreaterThanOrEqual(500);
    expect(written.length).toBeLessThanOrEqual(501);
  });

  it('that a hub refuses are lost, and no other', async () => {
    answer = () => Promise.reject(new TransientError('is away', { code: 'test', subject: 'hub' }));
    pageWritten('web');
    await clock.advance(0);
    answer = (event) => Promise.resolve(event);
    pageWritten('api');
    await clock.advance(0);
    expect(written).toHaveLength(2);
  });
});
