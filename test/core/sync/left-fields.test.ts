import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  judgeConflicts,
  LEFT_FIELDS_ANNOTATION,
  standingLeftFields,
  withoutLeftFields,
} from '../../../src/core/sync/left-fields.ts';

const PART_OF = 'applyset.kubernetes.io/part-of';

interface Entry {
  readonly manager: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1: object;
}

/** An object from Git, and as it is on the hub. */
const desired = (labels: Record<string, string>, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'a',
    namespace: 'default',
    labels: { ...labels, [PART_OF]: 'set' },
    annotations: { 'berth.dev/applied-hash': '1' },
  },
  ...more,
});
const live = (
  labels: Record<string, string>,
  managedFields: readonly Entry[],
  left?: readonly string[],
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'a',
    namespace: 'default',
    labels,
    annotations: left === undefined ? {} : { [LEFT_FIELDS_ANNOTATION]: JSON.stringify(left) },
    managedFields: managedFields.map((entry) => ({ operation: 'Update', ...entry })),
  },
});
const regionBy = (manager: string, more: Partial<Entry> = {}): Entry => ({
  manager,
  fieldsV1: { 'f:metadata': { 'f:labels': { 'f:example.com/region': {} } } },
  ...more,
});
const REGION = '.metadata.labels.example.com/region';
const OURS = { [PART_OF]: 'set' };

describe('fields over which an apply lost', () => {
  it.each([
    ['kubectl-edit'],
    ['kubectl-label'],
    ['kubectl'],
    ['kubectl-client-side-apply'],
    ['oc-edit'],
    ['k9s'],
    ['Mozilla'],
    ['before-first-apply'],
  ])('of an object that Berth applied are taken back from %s', (manager) => {
    const names = judgeConflicts([REGION], desired({}), live(OURS, [regionBy(manager)]), 'berth');
    expect(names).toEqual({ taken: [REGION], left: [] });
  });

  it.each<{ name: string; object: KubeObject; managers: readonly string[] }>([
    { name: 'a controller owns', object: live(OURS, [regionBy('registration')]), managers: ['registration'] },
    {
      name: 'a person applied by server-side apply',
      object: live(OURS, [regionBy('kubectl', { operation: 'Apply' })]),
      managers: ['kubectl'],
    },
    {
      name: 'a person and a controller own',
      object: live(OURS, [regionBy('kubectl-edit'), regionBy('registration')]),
      managers: ['kubectl-edit', 'registration'],
    },
    {
      name: 'a person set before Berth came',
      object: live({}, [regionBy('kubectl-edit')]),
      managers: ['kubectl-edit'],
    },
    {
      name: 'were a person’s when Berth came',
      object: live(OURS, [regionBy('kubectl-edit')], [REGION]),
      managers: ['kubectl-edit'],
    },
    {
      name: 'are another set’s',
      object: live({ [PART_OF]: 'other' }, [regionBy('kubectl-edit')]),
      managers: ['kubectl-edit'],
    },
    { name: 'nobody is known to own', object: live(OURS, []), managers: [] },
    { name: 'somebody owns by a longer name', object: live(OURS, [longer()]), managers: [] },
  ])('that $name are left', ({ object, managers }) => {
    const judged = judgeConflicts([REGION, REGION], desired({}), object, 'berth');
    expect(judged).toEqual({ taken: [], left: [{ name: REGION, managers }] });
  });

  function longer(): Entry {
    return {
      manager: 'kubectl-edit',
      fieldsV1: { 'f:metadata': { 'f:labels': { 'f:example.com/region-2': {} } } },
    };
  }

  it('the taints of a cluster are written together with those of others', () => {
    const cluster = { ...desired({}), kind: 'ManagedCluster' };
    const object = live(OURS, [{ manager: 'registration', fieldsV1: { 'f:spec': { 'f:taints': {} } } }]);
    expect(judgeConflicts(['.spec.taints'], cluster, object, 'berth').taken).toEqual(['.spec.taints']);
  });
});

describe('the object without the fields that are left', () => {
  it('has the rest, and a note', () => {
    const object = desired({ 'example.com/region': 'us', tier: '1' }, { data: { a: '1' } });
    const without = withoutLeftFields(object, [
      { name: '.data.a', managers: [] },
      { name: REGION, managers: ['x'] },
    ]);
    expect(without).toEqual({
      ...object,
      metadata: {
        ...object.metadata,
        labels: { tier: '1', [PART_OF]: 'set' },
        annotations: {
          'berth.dev/applied-hash': '1',
          [LEFT_FIELDS_ANNOTATION]: JSON.stringify(['.data.a', REGION]),
        },
      },
      data: undefined,
    });
  });

  it('is the object when none is left', () => {
    expect(withoutLeftFields(desired({}), [])).toEqual(desired({}));
  });

  it.each([
    ['.metadata.labels.applyset.kubernetes.io/part-of'],
    ['.metadata.annotations.berth.dev/applied-hash'],
    ['.spec.unknown'],
  ])('is nothing when %s would have to be left out', (name) => {
    expect(withoutLeftFields(desired({}), [{ name, managers: [] }])).toBeUndefined();
  });
});

describe('fields that were left', () => {
  const git = desired({ 'example.com/region': 'us' });
  const there = { ...OURS, 'example.com/region': 'eu' };
  it.each<{ name: string; object: KubeObject | undefined; want: unknown }>([
    { name: 'are none of a new object', object: undefined, want: [] },
    { name: 'are none without a note', object: live(OURS, []), want: [] },
    {
      name: 'stand while another manager owns them with another value',
      object: live(there, [regionBy('registration')], [REGION]),
      want: [{ name: REGION, managers: ['registration'] }],
    },
    { name: 'end when the manager gives them up', object: live(there, [], [REGION]), want: undefined },
    {
      name: 'end when the manager says what Git says',
      object: live({ ...OURS, 'example.com/region': 'us' }, [regionBy('registration')], [REGION]),
      want: undefined,
    },
    {
      name: 'end when the field left Git',
      object: live(there, [regionBy('registration')], ['.metadata.labels.gone']),
      want: undefined,
    },
  ])('$name', ({ object, want }) => {
    expect(standingLeftFields(git, object, 'berth')).toEqual(want);
  });

  it.each(['no list', '[1]', '{}'])('a note that is no list of names ends them: %s', (text) => {
    const object = live(there, []);
    const metadata = { ...object.metadata, annotations: { [LEFT_FIELDS_ANNOTATION]: text } };
    expect(standingLeftFields(git, { ...object, metadata }, 'berth')).toBeUndefined();
  });
});
