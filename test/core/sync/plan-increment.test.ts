import { describe, expect, it } from 'vitest';
import { planIncrement } from '../../../src/core/sync/plan-increment.ts';
import type { SourceObject } from '@berth/kube/model/source-object';

const object = (name: string, value = '1', namespace = 'team-a'): SourceObject => ({
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { value } },
  location: { file: `${name}.yaml`, line: 1, column: 1 },
});
const [a, b] = [object('a'), object('b')];

describe('what a new state of Git asks for', () => {
  it.each<[string, SourceObject[], string[] | undefined]>([
    ['nothing when nothing changed', [a, b], []],
    ['nothing for what was only read again', [object('a'), b], []],
    ['what changed', [a, object('b', '2')], ['b']],
    ['what changed, however it is listed', [object('b', '2'), a], ['b']],
    ['what is new where the set has been before', [a, b, object('c')], ['c']],
    ['the whole comparison when something left', [a], undefined],
    ['the whole comparison when something was renamed', [a, object('c')], undefined],
    [
      'the whole comparison for a namespace that the set does not name',
      [a, b, object('c', '1', 'team-b')],
      undefined,
    ],
    [
      'the whole comparison for a kind that the set does not name',
      [a, b, { ...a, object: { ...a.object, kind: 'Secret' } }],
      undefined,
    ],
    [
      'the whole comparison for another version',
      [a, { ...b, object: { ...b.object, apiVersion: 'v2' } }],
      undefined,
    ],
  ])('%s', (_name, next, want) => {
    const changed = planIncrement([a, b], next);
    expect(changed?.map((source) => source.object.metadata.name)).toEqual(want);
  });
});
