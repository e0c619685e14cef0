import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Taint } from '@berth/ocm/kind/managed-cluster';
import {
  APPLIED_TAINTS_ANNOTATION,
  withHubTaintNote,
  withHubTaints,
} from '../../../../src/core/sync/applied/cluster-taints.ts';

const T = '2026-01-01T00:00:00Z';
const drain: Taint = { key: 'drain', effect: 'NoSelect' };
const unreachable: Taint = { key: 'unreachable', effect: 'NoSelect', timeAdded: T };

interface Live {
  readonly taints: readonly Taint[];
  /** Undefined: written before there was the annotation. */
  readonly noted?: string;
  readonly owner: string;
}

const cluster = (taints: readonly Taint[] | undefined, metadata: object = {}): KubeObject => ({
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: { name: 'c1', ...metadata },
  spec: taints === undefined ? {} : { taints },
});
const liveOf = ({ taints, noted, owner }: Live): KubeObject =>
  cluster(taints, {
    ...(noted !== undefined && { annotations: { [APPLIED_TAINTS_ANNOTATION]: noted } }),
    managedFields: [{ manager: owner, operation: 'Apply', fieldsV1: { 'f:spec': { 'f:taints': {} } } }],
  });

describe('the taints of a cluster from Git', () => {
  it.each<{
    name: string;
    git: readonly Taint[] | undefined;
    live?: Live;
    want: readonly Taint[] | undefined;
  }>([
    { name: 'a new cluster gets those of Git', git: [drain], want: [drain] },
    {
      name: 'an unchanged one is sent with its time',
      git: [drain],
      live: { taints: [{ ...drain, timeAdded: T }], noted: 'drain:NoSelect', owner: 'berth' },
      want: [{ ...drain, timeAdded: T }],
    },
    {
      name: 'a changed one is sent without',
      git: [{ ...drain, value: 'b' }],
      live: { taints: [{ ...drain, timeAdded: T }], noted: 'drain:NoSelect', owner: 'berth' },
      want: [{ ...drain, value: 'b' }],
    },
    {
      name: 'those of others stay',
      git: [drain],
      live: { taints: [unreachable], owner: 'registration' },
      want: [unreachable, drain],
    },
    {
      name: 'one that left Git goes, and takes nothing with it',
      git: undefined,
      live: {
        taints: [{ ...drain, timeAdded: T }, unreachable],
        noted: 'drain:NoSelect',
        owner: 'registration',
      },
      want: [unreachable],
    },
    {
      name: 'a list that Berth wrote last keeps those of others, although Git says nothing',
      git: undefined,
      live: { taints: [unreachable], noted: '', owner: 'berth' },
      want: [unreachable],
    },
    {
      name: 'before the annotation, what Berth owned was of Git',
      git: [],
      live: { taints: [{ ...drain, timeAdded: T }], owner: 'berth' },
      want: [],
    },
    {
      name: 'nothing is said where Git never said anything',
      git: undefined,
      live: { taints: [unreachable], owner: 'registration' },
      want: undefined,
    },
  ])('$name', ({ git, live, want }) => {
    const sent = withHubTaints(cluster(git), live && liveOf(live), 'berth');
    expect((sent['spec'] as { taints?: readonly Taint[] }).taints).toEqual(want);
  });
});

describe('the note while others have the list', () => {
  it.each([
    ['is the one on the hub, not the newer one of Git', 'drain:NoSelect', 'registration', 'drain:NoSelect'],
    ['of a list before the annotation is what Berth owned', undefined, 'berth', 'drain:NoSelect'],
    ['of a list that was never of Git is empty', undefined, 'registration', ''],
  ])('%s', (...[, noted, owner, want]) => {
    const taints = [{ ...drain, timeAdded: T }];
    const live = liveOf({ taints, owner, ...(noted !== undefined && { noted }) });
    const sent = withHubTaintNote(withHubTaints(cluster([]), live, 'berth'), live, 'berth');
    expect(sent.metadata.annotations?.['berth.dev/applied-taints']).toBe(want);
  });
});
