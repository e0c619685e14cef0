import pLimit from 'p-limit';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SyncInput } from '../../../../src/controllers/sources/members/sync-problem.ts';
import { pruneHub } from '../../../../src/controllers/sources/pruning/hub-prune.ts';
import type { PruneParts, PruneState } from '../../../../src/controllers/sources/pruning/prune-state.ts';
import { InputError, TransientError } from '@berth/runtime/errors';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { objectIdentity, refOf } from '@berth/kube/model/object-ref';
import type { DeletionRecord } from '../../../../src/core/sync/deletion-record.ts';
import { sha256 } from '@berth/runtime/sha256';
import { FakeClock } from '@berth/test-kit/fake-clock';

const object = (name: string, kind = 'ConfigMap', apiVersion = 'v1'): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, uid: `uid-${name}`, ...(kind === 'ConfigMap' && { namespace: 'team-a' }) },
});
const setOf = (names: readonly string[]) => names.map((name) => object(name));
const FOUR = setOf(['a', 'b', 'c', 'd']);
const CLUSTER = object('c1', 'ManagedCluster', 'cluster.open-cluster-management.io/v1');

describe('deletions of what left Git', () => {
  /** Requests and notes, in their order. */
  let did: string[];
  let notes: Record<string, string>;
  let recorded: DeletionRecord[];
  let refuses: ReadonlySet<string>;
  let failsToList: boolean;
  /** Identities that another source declares by the time of the deletion. */
  let moved: Set<string>;
  let clock: FakeClock;
  beforeEach(() => {
    [did, notes, recorded, refuses, moved] = [[], {}, [], new Set(), new Set()];
    [failsToList, clock] = [false, new FakeClock()];
  });

  function parts(over: Partial<PruneParts> = {}): PruneParts {
    const kindOf = (apiVersion: string, kind: string) => ({
      group: apiVersion.includes('/') ? apiVersion.split('/')[0] : '',
      version: apiVersion.split('/').at(-1),
      kind,
      plural: `${kind.toLowerCase()}s`,
      namespaced: kind === 'ConfigMap',
    });
    const api = {
      resolve: (apiVersion: string, kind: string) => Promise.resolve(kindOf(apiVersion, kind)),
      list: () =>
        failsToList
          ? Promise.reject(new TransientError('no answer', { code: 'kube.network', subject: 'GET /x' }))
          : Promise.resolve({ items: [], resourceVersion: '1' }),
      delete: (_kind: unknown, { name }: { name: string }, { uid }: { uid: string }) => {
        if (refuses.has(name))
          return Promise.reject(new InputError('no', { code: 'kube.forbidden', subject: `DELETE ${name}` }));
        did.push(`delete ${name} ${uid}`);
        return Promise.resolve(true);
      },
    };
    const declarations = {
      isDeclaredElsewhere: (_source: string, identity: string) => moved.has(identity),
      declaredElsewhere: () => [],
      hasGivenUp: () => true,
    };
    return {
      ...{ api, declarations, clock, digest: sha256, source: 'fleet', limit: pLimit(1) },
      budget: { percent: 25, atLeast: 2 },
      deletionWindowMs: 600_000,
      registry: {
        annotate: (some: Record<string, string>) => {
          did.push('note');
          Object.assign(notes, some);
          return Promise.resolve();
        },
      },
      onDeleted: (record: DeletionRecord) => recorded.push(record),
      ...over,
    } as unknown as PruneParts;
  }

  const prune = async (
    {
      left,
      stays = [],
      input = {},
      state = {},
    }: {
      left: readonly KubeObject[];
      stays?: readonly KubeObject[];
      input?: Partial<SyncInput>;
      state?: Partial<PruneState>;
    },
    over: Partial<PruneParts> = {},
  ) => {
    const members = new Map([...left, ...stays].map((one) => [objectIdentity(refOf(one)), one]));
    const objects = stays.map((one) => ({ object: one, location: { path: 'x.yaml' } }));
    const outcome = await pruneHub(
      parts(over),
      { objects: objects as unknown as SyncInput['objects'], complete: true, ...input },
      {
        ...{ members, restored: [], areAll: true, others: new Map(), arrives: false },
        ...{ parent: parentWith(notes), membersBefore: undefined, notServed: [] },
        ...{ unjudged: new Set<string>(), ...state },
      },
    );
    if (outcome === undefined) throw new Error('the deletions were not judged');
    return outcome;
  };
  const parentWith = (annotations: Record<string, string>): KubeObject => ({
    ...object('fleet'),
    metadata: { name: 'fleet', annotations },
  });

  it('are noted before the first one, made with the uid, and recorded', async () => {
    const outcome = await prune({ left: setOf(['a', 'b']), stays: setOf(['c']) });
    expect(did).toEqual(['note', 'delete a uid-a', 'delete b uid-b']);
    expect(outcome).toMatchObject({ problems: [], pruneHeld: undefined });
    expect(outcome.deleted.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect(recorded).toMatchObject([
      { source: 'fleet', released: null },
      { source: 'fleet', released: null },
    ]);
  });

  it('are held beyond the budget, and what was deleted within the window counts', async () => {
    await prune({ left: setOf(['a']), stays: setOf(['b', 'c', 'd']) });
    did = [];
    const outcome = await prune({ left: setOf(['b', 'c']), stays: setOf(['d']) });
    expect(outcome.pruneHeld).toMatchObject({ token: expect.stringMatching(/^[0-9a-f]{12}$/) as string });
    expect([did, outcome.deleted]).toEqual([['note'], []]);
  });

  it('count no longer when the window is over', async () => {
    await prune({ left: setOf(['a']), stays: setOf(['b', 'c', 'd']) });
    await clock.advance(600_001);
    expect((await prune({ left: setOf(['b', 'c']), stays: setOf(['d']) })).deleted).toHaveLength(2);
  });

  it('that are released are made, with who released them, and their release is noted before', async () => {
    const code = (await prune({ left: FOUR.slice(0, 3), stays: FOUR.slice(3) })).pruneHeld?.token ?? '';
    did = [];
    Object.assign(notes, { 'berth.dev/release': code, 'berth.dev/released-by': 'ada' });
    const outcome = await prune({ left: FOUR.slice(0, 3), stays: FOUR.slice(3) });
    expect(outcome).toMatchObject({ released: { token: code, by: 'ada' }, pruneHeld: undefined });
    expect(did[0]).toBe('note');
    expect(outcome.deleted).toHaveLength(3);
    expect(recorded.map(({ released }) => released?.by)).toEqual(['ada', 'ada', 'ada']);
  });

  it.each<[string, Parameters<typeof prune>[0], () => void, object]>([
    [
      'while a file cannot be read',
      { left: setOf(['a']), stays: setOf(['b']), input: { complete: false } },
      () => undefined,
      {},
    ],
    [
      'while it is unknown what they take away',
      { left: [CLUSTER], stays: setOf(['b']) },
      () => (failsToList = true),
      { problems: [{ object: 'source fleet', retry: true }] },
    ],
    [
      'of the last objects',
      { left: setOf(['a']) },
      () => undefined,
      { pruneHeld: { token: expect.any(String) as string } },
    ],
  ])('are not made %s', async (_name, what, given, want) => {
    given();
    const outcome = await prune(what);
    expect(did.filter((one) => one !== 'note')).toEqual([]);
    expect(outcome).toMatchObject({ deleted: [], ...want });
  });

  it('are not made of what another source declares by then, and the window counts what was deleted', async () => {
    const [a] = setOf(['a']);
    moved = new Set();
    const over = {
      declarations: {
        ...parts().declarations,
        // Asked when the plan is made, and again before each deletion.
        isDeclaredElsewhere: (_source: string, identity: string) =>
          did.length > 0 && identity === objectIdentity(refOf(a as KubeObject)),
      },
    };
    const outcome = await prune({ left: setOf(['a', 'b']), stays: setOf(['c']) }, over);
    expect(outcome.deleted.map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(did).toEqual(['note', 'delete b uid-b', 'note']);
    did = [];
    // One deletion counts: another one is within the budget of two.
    expect((await prune({ left: setOf(['d']), stays: setOf(['a', 'c']) })).pruneHeld).toBeUndefined();
  });

  it('that the hub refuses are problems, and hold up no other', async () => {
    refuses = new Set(['a']);
    const outcome = await prune({ left: setOf(['a', 'b']), stays: setOf(['c']) });
    expect(outcome.deleted.map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(outcome.problems).toHaveLength(1);
    expect(recorded).toHaveLength(1);
  });

  it('of what a backup has restored are made again', async () => {
    const restored = setOf(['old']);
    const outcome = await prune({ left: [], stays: setOf(['c']), state: { restored } });
    expect(outcome.deleted).toEqual(restored);
    const unread = await prune({
      left: [],
      stays: setOf(['c']),
      state: { restored },
      input: { complete: false },
    });
    expect(unread.deleted).toEqual([]);
  });
});
