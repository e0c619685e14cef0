import { expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { returningObjects } from '../../../src/core/preview/hub-only-objects.ts';
import { overlaySnapshot } from '../../../src/core/preview/sides/overlay-snapshot.ts';
import { snapshotOfObjects } from '../../../src/core/sources/snapshot-of-objects.ts';
import type { SourceObject } from '@berth/kube/model/source-object';

const placement = (annotations: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'Placement',
  metadata: { name: 'web', namespace: 'team-a', annotations },
  spec: {},
});
const ADDED = { 'berth.dev/scheduler': 'berth', 'berth.dev/applied-hash': '0' };

it('an object that comes back to Git loses what Git does not say any more, and nothing that Berth adds', () => {
  const earlier = placement({ ...ADDED, 'berth.dev/removal-budget': '1' });
  const fields = Object.keys(earlier.metadata.annotations ?? {}).map((name) => [`f:${name}`, {}]);
  const managed = {
    manager: 'berth',
    operation: 'Apply',
    fieldsV1: { 'f:metadata': { 'f:annotations': Object.fromEntries(fields) as object } },
  };
  const live = { ...earlier, metadata: { ...earlier.metadata, managedFields: [managed] } };
  const location = { file: 'web.yaml', line: 1, column: 1 };
  const head: readonly SourceObject[] = [{ object: placement({ owner: 'ada' }), location }];
  const returning = returningObjects([], head, [live]);
  const now = '2026-01-01T00:00:00Z';
  const [git, applied, hub] = [head, returning, [{ object: live }]].map((objects) =>
    snapshotOfObjects(objects, { now }),
  );
  const after = hub && git && overlaySnapshot(hub, git, applied);
  expect(after?.placements[0]?.metadata.annotations).toEqual({ ...ADDED, owner: 'ada' });
});
