import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import { sha256 } from '@berth/runtime/sha256';
import { describe, expect, it } from 'vitest';
import {
  changedObjects,
  inputKey,
  inputsOf,
  compareWithHub,
  withHeld,
} from '../../../../src/core/preview/sides/held-objects.ts';
import { snapshotOfObjects } from '../../../../src/core/sources/snapshot-of-objects.ts';
import { applySetId, parentOfSource } from '../../../../src/core/sync/apply-set.ts';
import { desiredObject } from '../../../../src/core/sync/desired-object.ts';
import { cluster, placement } from '../../../app/serve/fleet-fixture.ts';

const NOW = '2026-01-01T00:00:00Z';
const git = (name: string, spec: object): KubeObject => placement(name, spec);
const source = (object: KubeObject): SourceObject => ({
  object,
  location: { file: 'a.yaml', line: 1, column: 1 },
});
const web = git('web', { numberOfClusters: 1 });

/** As the controller applied it for source `fleet`. */
function written(object: KubeObject): KubeObject {
  return desiredObject(object, {
    applySetId: applySetId(sha256, parentOfSource('fleet')),
    digest: sha256,
    annotatePlacements: true,
  });
}

function withSpec(object: KubeObject, more: object): KubeObject {
  return { ...object, spec: { ...(object['spec'] as object), ...more } };
}

describe('an object on the hub is what Git makes of it', () => {
  it('if it has just what Git declares', () => {
    expect(compareWithHub(git('web', {}), git('web', {}), 'fleet', sha256)).toBe('declared');
  });
  it('if the controller wrote it and the hub added defaults', () => {
    expect(compareWithHub(git('web', {}), withSpec(written(git('web', {})), { a: 1 }), 'fleet', sha256)).toBe(
      'written',
    );
  });
  it('if fields were left to another manager when the controller wrote it', () => {
    const live = withSpec(written(web), { numberOfClusters: 5 });
    const annotations = {
      ...live.metadata.annotations,
      'berth.dev/left-fields': '[".spec.numberOfClusters"]',
    };
    const left = { ...live, metadata: { ...live.metadata, annotations } };
    expect(compareWithHub(web, left, 'fleet', sha256)).toBe('written');
    expect(compareWithHub(git('web', { numberOfClusters: 1 }), live, 'fleet', sha256)).toBe('different');
  });
  it('not if another source wrote it, or somebody changed it since', () => {
    const live = withSpec(written(git('web', {})), { a: 1 });
    expect(compareWithHub(git('web', {}), live, 'other', sha256)).toBe('different');
    const changed = withSpec(written(git('web', { numberOfClusters: 1 })), { numberOfClusters: 2 });
    expect(compareWithHub(git('web', { numberOfClusters: 1 }), changed, 'fleet', sha256)).toBe('different');
  });
  it('if Git leaves to others whether a cluster is accepted, and the hub adds labels', () => {
    const [declared, live] = [cluster('c1'), cluster('c1', { labels: { other: 'label' } })] as KubeObject[];
    expect(compareWithHub({ ...declared, spec: {} } as KubeObject, live as KubeObject, 'fleet', sha256)).toBe(
      'declared',
    );
  });
  it('not a cluster without a taint of Git; a taint of others does not count', () => {
    const taint = { key: 'drain', effect: 'NoSelect' };
    const [bare, tainted] = [cluster('c1'), cluster('c1', { taints: [taint] })] as unknown as KubeObject[];
    expect(compareWithHub(tainted as KubeObject, bare as KubeObject, 'fleet', sha256)).toBe('different');
    expect(compareWithHub(bare as KubeObject, tainted as KubeObject, 'fleet', sha256)).toBe('declared');
  });
});

describe('the objects that a change edits', () => {
  it('are those with another content, with the object of the base', () => {
    const [same, old] = [source(git('same', {})), source(git('web', { numberOfClusters: 1 }))];
    const [again, edited, added] = [git('same', {}), git('web', {}), git('new', {})].map(source);
    const changed = changedObjects([same, old], [again, edited, added] as SourceObject[]);
    expect([...changed]).toEqual([
      [edited, old],
      [added, undefined],
    ]);
  });
});

describe('what the hub holds', () => {
  const snapshot = snapshotOfObjects([source(web), source(git('batch', {}))], { now: NOW });
  const key = inputKey(web) ?? '';

  it('replaces what Git says, without the annotations of Berth', () => {
    const held = withSpec(written(web), { numberOfClusters: 2 });
    const { placements } = withHeld(snapshot, new Map([[key, held]]));
    expect(placements.find(({ metadata }) => metadata.name === 'web')).toMatchObject({
      metadata: { annotations: {}, labels: {} },
      spec: { numberOfClusters: 2 },
    });
    expect(placements.find(({ metadata }) => metadata.name === 'batch')).toBe(
      snapshot.placements.find(({ metadata }) => metadata.name === 'batch'),
    );
  });
  it('is the same object for the same answer, so that it is not decided again', () => {
    const held = new Map([[key, written(web)]]);
    expect(withHeld(snapshot, held).placements).toEqual(withHeld(snapshot, held).placements);
    expect(withHeld(snapshot, held).placements[1]).toBe(withHeld(snapshot, held).placements[1]);
    expect(withHeld(snapshot, new Map())).toBe(snapshot);
    // The head is laid over the base, and the next plan begins with what Git says again.
    const base = withHeld(snapshot, held);
    const head = withHeld(base, held);
    expect(head.placements).toBe(base.placements);
    expect(withHeld(snapshot, held).placements[1]).toBe(base.placements[1]);
  });
  it('is found by the kind and name of the object', () => {
    expect(inputsOf(snapshot)(key)?.metadata.name).toBe('web');
    expect(inputsOf(snapshot)('Placement team-a/none')).toBeUndefined();
    expect(inputKey({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })).toBeUndefined();
  });
});
