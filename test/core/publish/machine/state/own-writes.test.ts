import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  changeKey,
  isWatchBehind,
  isOwnWrite,
  latestVersion,
  afterShown,
  recordWrite,
} from '../../../../../src/core/publish/machine/state/own-writes.ts';

const at = (resourceVersion: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'n', resourceVersion },
});
const change = (before: string | undefined, after: string | undefined) => ({
  before: before === undefined ? undefined : at(before),
  after: after === undefined ? undefined : at(after),
});
/** Version 1 was seen, and 2 and then 3 were written. */
const twice = recordWrite(recordWrite(undefined, change('1', '2')), change('2', '3'));
const deleted = recordWrite(undefined, change('1', undefined));
const created = recordWrite(undefined, change(undefined, '1'));

describe('own writes', () => {
  it.each([
    { name: 'before both writes', write: twice, seen: '1', want: '3', own: true },
    { name: 'between them', write: twice, seen: '2', want: '3', own: true },
    { name: 'after them', write: twice, seen: '3', want: '3', own: true },
    { name: 'what others wrote later', write: twice, seen: '7', want: '7', own: false },
    { name: 'a deletion by others', write: twice, seen: undefined, want: undefined, own: false },
    { name: 'the object before it was deleted', write: deleted, seen: '1', want: undefined, own: true },
    { name: 'its own deletion', write: deleted, seen: undefined, want: undefined, own: true },
    { name: 'nothing of what it created', write: created, seen: undefined, want: '1', own: true },
    { name: 'an object that it never wrote', write: undefined, seen: '4', want: '4', own: false },
  ])('reads its own writes when the watch shows $name', ({ write, seen, want, own }) => {
    const object = seen === undefined ? undefined : at(seen);
    expect(latestVersion(write, object)?.metadata.resourceVersion).toBe(want);
    expect(isOwnWrite(write, object)).toBe(own);
  });

  it('takes an older version for news once the watch showed the write: the hub was restored from a backup', () => {
    const shown = afterShown(twice, at('3'));
    expect(shown && isWatchBehind(shown)).toBe(false);
    expect(isOwnWrite(shown, at('3'))).toBe(true);
    expect(isOwnWrite(shown, at('2'))).toBe(false);
    expect(latestVersion(shown, at('1'))).toEqual(at('1'));
  });

  it('forgets a write that others have written after, and waits for one that the watch does not show', () => {
    expect(afterShown(twice, at('4'))).toBeUndefined();
    expect(afterShown(twice, at('2'))).toBe(twice);
    expect(twice && isWatchBehind(twice)).toBe(true);
  });

  it('does not keep a write that changed nothing', () => {
    expect(recordWrite(undefined, change('1', '1'))).toBeUndefined();
  });

  it.each([
    [change('1', '2'), change(undefined, '2'), true],
    [change('1', '2'), change('1', '3'), false],
    [change('1', undefined), change('1', undefined), true],
    [change('1', undefined), change('2', undefined), false],
    [change('1', undefined), change(undefined, '1'), false],
  ])('names a change by what it made of the object', (write, seen, isSame) => {
    expect(changeKey('a', write) === changeKey('a', seen)).toBe(isSame);
  });
});
