import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { takeOverFields } from '../../../src/rules/update/take-over-fields.ts';

const entry = (manager: string, operation: string, fieldsV1: object, subresource?: string) => ({
  manager,
  operation,
  ...(subresource === undefined ? {} : { subresource }),
  fieldsV1,
});
const OWNERS = { 'f:ownerReferences': { '.': {}, 'k:{"uid":"u"}': {} }, 'f:finalizers': { 'v:"x"': {} } };

function live(...managedFields: object[]): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'a', labels: { l: '1' }, ownerReferences: [], finalizers: ['x'], managedFields },
    data: { a: '1', b: '1' },
    list: [{ name: 'one', image: 'x' }],
    set: ['s'],
  };
}

interface Case {
  readonly name: string;
  readonly entries: readonly object[];
  readonly manager?: string;
  readonly isOwned?: boolean;
  readonly ignored?: string;
  readonly want: readonly object[] | undefined;
}

describe('fields that a manager takes over before it applies', () => {
  it.each<Case>([
    { name: 'nothing is managed', entries: [], want: undefined },
    {
      name: 'what the agent updated, without owners and finalizers',
      entries: [
        entry('work-agent', 'Update', {
          'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} }, ...OWNERS },
          'f:data': { '.': {}, 'f:a': {} },
          'f:list': { 'k:{"name":"one"}': { '.': {}, 'f:image': {} } },
          'f:set': { 'v:"s"': {} },
        }),
      ],
      want: [
        entry('work-agent', 'Apply', {
          'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
          'f:data': { '.': {}, 'f:a': {} },
          'f:list': { 'k:{"name":"one"}': { '.': {}, 'f:image': {} } },
          'f:set': { 'v:"s"': {} },
        }),
        entry('work-agent', 'Update', { 'f:metadata': OWNERS }),
      ],
    },
    {
      name: 'only owners and finalizers are left',
      entries: [entry('work-agent', 'Update', { 'f:metadata': OWNERS })],
      want: undefined,
    },
    {
      name: 'beside what the manager applied, where a whole field and a part of it come together',
      entries: [
        entry('work-agent', 'Update', { 'f:data': { 'f:b': {} }, 'f:list': {} }),
        entry('work-agent', 'Apply', { 'f:data': {}, 'f:list': { 'k:{"name":"one"}': {} } }),
      ],
      want: [
        entry('work-agent', 'Apply', {
          'f:data': { '.': {}, 'f:b': {} },
          'f:list': { '.': {}, 'k:{"name":"one"}': {} },
        }),
      ],
    },
    {
      name: 'neither a status nor what others wrote',
      entries: [
        entry('work-agent', 'Update', { 'f:status': {} }, 'status'),
        entry('kubectl', 'Apply', { 'f:data': {} }),
        entry('kubectl', 'Update', { 'f:data': {} }),
      ],
      want: undefined,
    },
    {
      name: 'of another manager of ours, before the first apply',
      manager: 'work-agent-b',
      entries: [
        entry('work-agent-a', 'Apply', { 'f:data': {} }),
        entry('work-agent', 'Update', { 'f:set': {} }),
        entry('work-agent-b', 'Update', { 'f:list': {} }),
      ],
      want: [entry('work-agent-b', 'Apply', { 'f:data': {}, 'f:set': {}, 'f:list': {} })],
    },
    {
      name: 'not of another manager of ours, later',
      manager: 'work-agent-b',
      entries: [
        entry('work-agent-a', 'Apply', { 'f:data': {} }),
        entry('work-agent-b', 'Apply', { 'f:set': {} }),
      ],
      want: undefined,
    },
    {
      name: 'not of another manager of ours on an object that is not ours',
      manager: 'work-agent-b',
      isOwned: false,
      entries: [entry('work-agent-a', 'Apply', { 'f:data': {} })],
      want: undefined,
    },
    {
      name: 'not what is left alone',
      ignored: 'data',
      entries: [entry('work-agent', 'Update', { 'f:data': { 'f:a': {} }, 'f:set': {} })],
      want: [
        entry('work-agent', 'Apply', { 'f:set': {} }),
        entry('work-agent', 'Update', { 'f:data': { 'f:a': {} } }),
      ],
    },
  ])('$name', ({ entries, manager = 'work-agent', isOwned = true, ignored = '', want }) => {
    const object = live(...entries);
    const { [ignored]: _ignored, ...reach } = object as KubeObject & Record<string, unknown>;
    expect(takeOverFields(object, { manager, isOwned, reach: reach as KubeObject })).toEqual(want);
  });
});
