import { describe, expect, it } from 'vitest';
import { MANAGED_CLUSTER_ADDON, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { cleanupPriority, planCleanup } from '../../../../src/core/registration/cluster-deletion.ts';

const KEY = 'open-cluster-management.io/cleanup-priority';

function object(name: string, priority?: string, over: object = {}): KubeObject {
  const annotations = priority === undefined ? {} : { [KEY]: priority };
  return { apiVersion: 'v1', kind: 'X', metadata: { name, annotations, ...over } };
}

const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] };

describe('the priority of a deletion', () => {
  it.each([
    [undefined, 0],
    ['0', 0],
    ['100', 100],
    ['+7', 7],
    ['101', 0],
    ['-1', 0],
    ['1.5', 0],
    ['1e1', 0],
    ['0x10', 0],
    ['ten', 0],
    [' 5', 0],
    ['9999999999999999999999', 0],
  ])('is read from %j as %i', (text, want) => {
    expect(cleanupPriority(object('a', text))).toBe(want);
  });
});

describe('the next deletions', () => {
  const plan = (addOns: readonly KubeObject[], works: readonly KubeObject[]) => {
    const { deletions, isFinished, condition } = planCleanup([
      { kind: MANAGED_CLUSTER_ADDON, objects: addOns },
      { kind: MANIFEST_WORK, objects: works },
    ]);
    return { names: deletions.map(({ metadata }) => metadata.name), isFinished, text: condition.message };
  };

  it.each([
    [
      'add-ons come before works',
      [object('a')],
      [object('w')],
      ['a'],
      'managedclusteraddons is remaning, the remaining count is 1, the finalizer pending count is 0',
    ],
    [
      'the lowest number goes first',
      [],
      [object('w10', '10'), object('w5', '5'), object('x5', '5')],
      ['w5', 'x5'],
      'manifestworks is remaning, the remaining count is 3',
    ],
    [
      'higher ones wait until those are gone',
      [],
      [object('w10', '10'), object('w5', '5', leaving)],
      [],
      'the remaining count is 2, the finalizer pending count is 1',
    ],
    ['nothing is deleted twice', [object('a', '0', leaving)], [object('w')], [], 'managedclusteraddons'],
  ])('%s', (...[, addOns, works, names, text]) => {
    expect(plan(addOns, works)).toEqual({
      names,
      isFinished: false,
      text: expect.stringContaining(text) as string,
    });
  });

  it('ends when nothing is left', () => {
    expect(plan([], [])).toEqual({ names: [], isFinished: true, text: 'No cleaned resource in cluster ns.' });
  });
});
