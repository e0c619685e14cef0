import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, objectIdentity, refOf } from '@berth/kube/model/object-ref';
import { planPrune, type PruneInput } from '../../../src/core/sync/plan-prune.ts';
import { releaseHash } from '../../../src/core/sync/prune-releases.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const object = (kind: string, name: string, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'team-a', annotations },
});

describe('planPrune', () => {
  const members = Array.from({ length: 12 }, (_, i) => object('ConfigMap', `c${i}`));
  const input = (over: Partial<PruneInput>): PruneInput => ({
    source: 'fleet',
    members,
    wanted: new Set(),
    isTransferred: () => false,
    arrives: true,
    complete: true,
    budget: { percent: 25, atLeast: 2 },
    releasedCodes: [],
    digest,
    ...over,
  });
  const wanting = (...kept: KubeObject[]) => new Set(kept.map((entry) => objectIdentity(refOf(entry))));

  it('makes the share of what was there before, without what moves to another source or came since', () => {
    const wanted = wanting(...members.slice(5));
    const [moved] = members;
    const isTransferred = (identity: string) =>
      moved !== undefined && identity === objectIdentity(refOf(moved));
    const more = Array.from({ length: 20 }, (_, at) => object('Secret', `new${at}`));
    const left = (over: Partial<PruneInput>) => {
      const plan = planPrune(input({ wanted, isTransferred, ...over }));
      return plan.kind === 'held' ? plan.message.split(';')[0] : plan.kind;
    };
    const all = { members: [...members, ...more], wanted: new Set([...wanted, ...wanting(...more)]) };
    const others = members.length - 1;
    const held = `4 of ${others} objects left Git (budget ${Math.max(2, Math.floor(others / 4))})`;
    expect(left({})).toBe(held);
    expect(left(all)).toBe('prune');
    expect(left({ ...all, membersBefore: others })).toBe(held);
    expect(left({ membersBefore: 100 })).toBe(held);
  });

  it('deletes what left Git', () => {
    expect(planPrune(input({ wanted: wanting(...members.slice(3)) }))).toMatchObject({
      kind: 'prune',
      objects: members.slice(0, 3),
    });
  });

  it('holds what takes too much away for as long as the same is to go, though nothing is lost by it any more', () => {
    const wanted = wanting(...members.slice(1));
    const loss = {
      holder: 'Placement team-a/web',
      identity: 'web',
      by: ['ConfigMap team-a/c0'],
      what: 'clusters' as const,
      count: 3,
      of: 3,
      clusters: ['a', 'b', 'c'],
      budget: undefined,
      heldFor: undefined,
    };
    const held = planPrune(input({ wanted, losses: [loss] }));
    if (held.kind !== 'held') throw new Error(held.kind);
    const { code, message, holders = [] } = held;
    expect(holders).toHaveLength(1);
    const heldLosses = { code, message, holders };
    expect(planPrune(input({ wanted, heldLosses }))).toEqual({ ...held });
    expect(planPrune(input({ wanted, heldLosses, releasedCodes: [code] })).kind).toBe('prune');
    // It ends with what would lose something; where that is not known, it stays.
    expect(planPrune(input({ wanted, heldLosses, holders: ['Placement team-a/api'] })).kind).toBe('prune');
    expect(planPrune(input({ wanted, heldLosses, holders: ['Placement team-a/web'] }))).toEqual(held);
    const unknown = { ...heldLosses, holders: [] };
    expect(planPrune(input({ wanted, heldLosses: unknown, holders: [] })).kind).toBe('held');
    // What another one would lose now is noted beside it.
    const other = { ...loss, holder: 'Placement team-a/api' };
    const both = planPrune(input({ wanted, heldLosses, losses: [other], holders: ['Placement team-a/web'] }));
    expect(both).toMatchObject({ kind: 'held', holders: [...holders, expect.any(String)] });
    // Other objects are another deletion.
    expect(planPrune(input({ wanted: wanting(...members.slice(2)), heldLosses })).kind).toBe('prune');
  });

  it('holds as long as one of several objects that would lose something is there', () => {
    const wanted = wanting(...members.slice(1));
    const lossOf = (holder: string) => ({
      ...{ holder, identity: holder, by: ['ConfigMap team-a/c0'], what: 'clusters' as const },
      ...{ count: 3, of: 3, clusters: ['a', 'b', 'c'], budget: undefined, heldFor: undefined },
    });
    const [web, api] = ['Placement team-a/web', 'Placement team-a/api'];
    const held = planPrune(input({ wanted, losses: [web, api].map((name) => lossOf(name)) }));
    if (held.kind !== 'held') throw new Error(held.kind);
    const { code, message, holders = [] } = held;
    expect(holders).toHaveLength(2);
    const later = (...present: string[]) =>
      planPrune(input({ wanted, heldLosses: { code, message, holders }, holders: present })).kind;
    expect([later(web), later(api)]).toEqual(['held', 'held']);
    expect(later('Placement team-a/other')).toBe('prune');
  });

  it('names what could not be read', () => {
    const wanted = wanting(...members.slice(1));
    const message = (over: object) => {
      const plan = planPrune(input({ wanted, complete: false, ...over }));
      return plan.kind === 'suspended' ? plan.message : plan.kind;
    };
    expect(message({ unread: 'web.yaml cannot be read' })).toBe(
      '1 objects are not in Git, but web.yaml cannot be read; these stay: ConfigMap team-a/c0',
    );
    expect(message({})).toContain('but not all of Git could be read; these stay: ');
  });

  it('does not care for the version in Git', () => {
    const moved = { ...members[0]!, apiVersion: 'v2' };
    expect(planPrune(input({ members: [members[0]!], wanted: wanting(moved) }))).toMatchObject({
      kind: 'prune',
      objects: [],
    });
  });

  it('holds more than the budget until a release names exactly this', () => {
    const wanted = wanting(...members.slice(4));
    const held = planPrune(input({ wanted }));
    expect(held).toMatchObject({
      kind: 'held',
      message: expect.stringContaining('4 of 12 objects left Git (budget 3)') as string,
    });
    const code = held.kind === 'held' ? held.code : '';
    expect(planPrune(input({ wanted, releasedCodes: ['ffffffffffff', code] })).kind).toBe('prune');
    expect(planPrune(input({ wanted: wanting(...members.slice(5)), releasedCodes: [code] })).kind).toBe(
      'held',
    );
  });

  it('takes a release for the rest of what it named, and never for anything a second time', () => {
    const wanted = wanting(...members.slice(4));
    const held = planPrune(input({ wanted }));
    const code = held.kind === 'held' ? held.code : '';
    const hashOf = (member: KubeObject) => releaseHash(digest, formatRef(refOf(member)));
    const releases = { spent: [code], objects: new Set(members.slice(0, 4).map(hashOf)) };
    const left = { members: members.slice(3), wanted, budget: { percent: 0, atLeast: 0 }, releases };
    expect(planPrune(input(left))).toMatchObject({ kind: 'prune', objects: [members[3]], isRest: true });
    // Another object besides: the release did not name it.
    expect(planPrune(input({ ...left, wanted: wanting(...members.slice(5)) })).kind).toBe('held');
    // It was all deleted, is in Git and on the hub again, and is lost once more.
    const done = { ...releases, objects: new Set<string>() };
    const again = planPrune(input({ wanted, releases: done, releasedCodes: [code] }));
    expect(again).toMatchObject({ kind: 'held', code: expect.not.stringContaining(code) as string });
    const releasedCodes = again.kind === 'held' ? [again.code] : [];
    expect(planPrune(input({ wanted, releases: done, releasedCodes })).kind).toBe('prune');
  });

  it('deletes nothing while a file could not be read', () => {
    expect(planPrune(input({ wanted: wanting(...members.slice(1)), complete: false })).kind).toBe(
      'suspended',
    );
  });

  it.each([
    { kind: 'ConfigMap', annotations: {}, pruned: true },
    { kind: 'ConfigMap', annotations: { 'berth.dev/prune': 'disabled' }, pruned: false },
    { kind: 'ConfigMap', annotations: { 'berth.dev/prune': 'enabled' }, pruned: true },
    // Meant to keep it, most likely.
    { kind: 'ConfigMap', annotations: { 'berth.dev/prune': 'false' }, pruned: false },
    { kind: 'Namespace', annotations: {}, pruned: false },
    { kind: 'Namespace', annotations: { 'berth.dev/prune': 'enabled' }, pruned: true },
    { kind: 'CustomResourceDefinition', annotations: {}, pruned: false },
  ])('$kind with $annotations is pruned: $pruned', ({ kind, annotations, pruned }) => {
    const plan = planPrune(input({ members: [object(kind, 'x', annotations)] }));
    expect(plan.kind === 'prune' && plan.objects.length === 1).toBe(pruned);
  });

  describe('with objects that stay on the hub', () => {
    const stays = (name: string) => object('ConfigMap', name, { 'berth.dev/adopted': 'true' });
    const [a, b] = [stays('a'), stays('b')] as const;
    const because = 'was on the hub before Git declared it';
    const many = Array.from({ length: 10 }, (_, at) => stays(`s${at}`));
    const mistyped = { notServed: ['Placemant team-a/x (a.yaml:1:1)'] };

    it.each<{ readonly what: string; readonly over: Partial<PruneInput>; readonly want: object }>([
      {
        what: 'they need no budget',
        over: { members: [...members, ...many], wanted: wanting(...members) },
        want: { kind: 'prune', objects: [], withdrawn: many.map((one) => ({ object: one, because })) },
      },
      {
        what: 'they go with deletions within the budget',
        over: { members: [...members, a], wanted: wanting(...members.slice(2)) },
        want: { kind: 'prune', objects: members.slice(0, 2), withdrawn: [{ object: a, because }] },
      },
      {
        what: 'one that is being deleted is left alone',
        over: {
          members: [
            ...members,
            { ...a, metadata: { ...a.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
          ],
          wanted: wanting(...members),
        },
        want: { kind: 'prune', objects: [], withdrawn: [] },
      },
      {
        what: 'one that moves to another source is left alone',
        over: { members: [...members, a], wanted: wanting(...members), isTransferred: () => true },
        want: { kind: 'prune', objects: [], withdrawn: [] },
      },
      {
        what: 'they wait while a file cannot be read',
        over: { members: [...members, a], wanted: wanting(...members), complete: false },
        want: {
          kind: 'suspended',
          message:
            '1 objects are not in Git, but not all of Git could be read; this is not changed: ConfigMap team-a/a',
        },
      },
      {
        what: 'they wait while deletions are held',
        over: { members: [...members, a], wanted: wanting(...members.slice(6)) },
        want: {
          kind: 'held',
          withdrawn: [{ object: a, because }],
          message: expect.stringContaining('; and this is not changed: ConfigMap team-a/a. ') as string,
        },
      },
      {
        what: 'they wait while the source would become empty',
        over: { members: [a, b], arrives: false },
        want: {
          kind: 'held',
          message: expect.stringMatching(
            /^2 of 2 objects left Git, and nothing .*; this is not changed: ConfigMap team-a\/a, ConfigMap team-a\/b\. /,
          ) as string,
        },
      },
      {
        what: 'they wait while a kind may be mistyped',
        over: { members: [...members, a], wanted: wanting(...members), ...mistyped },
        want: { kind: 'held' },
      },
    ])('$what', ({ over, want }) => {
      expect(planPrune(input(over))).toMatchObject(want);
    });

    it('one release is for all that waits', () => {
      const over = { members: [...members, a], wanted: wanting(...members.slice(6)) };
      const held = planPrune(input(over));
      const releasedCodes = held.kind === 'held' ? [held.code] : [];
      expect(planPrune(input({ ...over, releasedCodes }))).toMatchObject({
        kind: 'prune',
        withdrawn: [{ object: a }],
        releasedCode: releasedCodes[0],
      });
      expect(planPrune(input({ members, wanted: over.wanted, releasedCodes })).kind).toBe('held');
    });
  });

  describe('of the last objects that the source has on the hub', () => {
    const [one, two, three] = members as [KubeObject, KubeObject, KubeObject];
    const emptied = (over: Partial<PruneInput> = {}) =>
      planPrune(input({ members: [one, two], arrives: false, commit: 'c0ffee'.repeat(7), ...over }));

    it('holds it whatever the budget says, and says which source, which commit, how much and the way out', () => {
      const held = emptied({ budget: { percent: 100, atLeast: 100 } });
      const code = held.kind === 'held' ? held.code : '';
      const remedy =
        `To approve this change, set the annotation berth.dev/release: "${code}" on an object of the source in Git (for example a namespace that is added for it), ` +
        `or run: berth release --source fleet --token ${code}`;
      expect(held).toEqual({
        kind: 'held',
        remedy,
        code: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
        objects: [one, two],
        withdrawn: [],
        holders: undefined,
        message:
          '2 of 2 objects left Git in commit c0ffeec0ffee, and nothing that source fleet has in Git would be left on the hub; ' +
          'these stay: ConfigMap team-a/c0, ConfigMap team-a/c1. If that is a mistake, correct the source, for example its ref or its paths. ' +
          remedy,
      });
      expect(emptied({ releasedCodes: [code] })).toMatchObject({
        kind: 'prune',
        objects: [one, two],
        releasedCode: code,
      });
      // It names these two, and not the last one of them.
      expect(emptied({ members: [two], releasedCodes: [code] }).kind).toBe('held');
    });

    it.each<{ name: string; over: Partial<PruneInput>; kind: string; deleted?: number }>([
      { name: 'a source that never had anything', over: { members: [] }, kind: 'prune', deleted: 0 },
      { name: 'one of two that stays', over: { wanted: wanting(one) }, kind: 'prune', deleted: 1 },
      { name: 'others that came in the same sync', over: { arrives: true }, kind: 'prune', deleted: 2 },
      { name: 'a source that may be emptied', over: { allowEmpty: true }, kind: 'prune', deleted: 2 },
      {
        name: 'a source that may be emptied, beyond its budget',
        over: { allowEmpty: true, budget: { percent: 0, atLeast: 1 } },
        kind: 'held',
      },
      {
        name: 'all that move to another source',
        over: { isTransferred: () => true },
        kind: 'prune',
        deleted: 0,
      },
      {
        name: 'some that move to another source, and one that is gone',
        over: { isTransferred: (identity) => identity === objectIdentity(refOf(one)) },
        kind: 'held',
      },
      {
        name: 'what is kept anyway, and nothing else',
        over: {
          members: [object('Namespace', 'x'), object('Secret', 'y', { 'berth.dev/prune': 'disabled' })],
        },
        kind: 'prune',
        deleted: 0,
      },
      {
        name: 'all but a namespace that is kept although it left Git',
        over: { members: [one, object('Namespace', 'x')] },
        kind: 'held',
      },
      {
        name: 'what is being deleted already',
        over: {
          members: [one, two].map((member) => ({
            ...member,
            metadata: { ...member.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
          })),
        },
        kind: 'prune',
        deleted: 0,
      },
      { name: 'a commit that cannot be read wholly', over: { complete: false }, kind: 'suspended' },
    ])('$name: $kind', ({ over, kind, deleted }) => {
      const plan = emptied(over);
      expect(plan.kind).toBe(kind);
      if (deleted !== undefined) expect(plan.kind === 'prune' && plan.objects).toHaveLength(deleted);
    });

    it('records a release also where what carries it is what stays', () => {
      const held = emptied({ members: [one, two, three] });
      const releasedCodes = held.kind === 'held' ? [held.code] : [];
      expect(emptied({ members: [one, two, three], releasedCodes, arrives: true })).toMatchObject({
        kind: 'prune',
        releasedCode: releasedCodes[0],
      });
    });
  });
});
