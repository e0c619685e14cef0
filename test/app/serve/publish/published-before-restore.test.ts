import { beforeEach, describe, expect, it } from 'vitest';
import { PublishedBeforeRestore } from '../../../../src/app/serve/publish/published-before-restore.ts';
import { PLACEMENT_LABEL } from '../../../../src/core/model/placement-decision.ts';
import type { KubeObject } from '../../../../src/core/model/object-meta.ts';
import type { Placement } from '../../../../src/core/model/placement.ts';
import { listedClusters } from '../../../../src/core/publish/decision-page.ts';

const web: Placement = {
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'Placement',
  metadata: { name: 'web', namespace: 'team-a', uid: 'u1' },
  spec: {},
};

function page(resourceVersion: string, clusters: readonly string[], group = '0'): KubeObject {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'PlacementDecision',
    metadata: {
      name: 'web-decision-1',
      namespace: 'team-a',
      resourceVersion,
      labels: {
        [PLACEMENT_LABEL]: 'web',
        'cluster.open-cluster-management.io/decision-group-index': group,
        'cluster.open-cluster-management.io/decision-group-name': '',
      },
    },
    status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
  };
}

describe('what was published before the hub was restored', () => {
  let before: PublishedBeforeRestore;
  /** The hub of version 900 went back to version 500. */
  const published = page('850', ['c1', 'c2']);
  const backup = page('400', ['c1', 'c2', 'c3']);
  beforeEach(() => {
    before = new PublishedBeforeRestore();
    before.keep([web], { pagesOf: () => [published] }, '500');
  });
  const known = (uid = 'u1') => {
    const pages = before.of('team-a/web', uid);
    return pages && listedClusters(pages);
  };

  it('is known when the watch shows the page of the backup', () => {
    before.saw({ before: published, after: backup });
    expect(known()).toEqual(['c1', 'c2']);
  });

  it('is known when the backup has no such page', () => {
    before.saw({ before: published, after: undefined });
    expect(known()).toEqual(['c1', 'c2']);
  });

  it('is known after a second restore', () => {
    before.saw({ before: published, after: backup });
    before.keep([web], { pagesOf: () => [backup] }, '500');
    expect(known()).toEqual(['c1', 'c2']);
  });

  it('is forgotten when a leader publishes on the restored hub', () => {
    before.saw({ before: published, after: backup });
    before.saw({ before: backup, after: page('501', ['c1']) });
    expect(known()).toBeUndefined();
  });

  it('is forgotten when a leader deletes a page of the backup', () => {
    before.saw({ before: published, after: backup });
    before.saw({ before: backup, after: undefined });
    expect(known()).toBeUndefined();
  });

  it('is not that of another placement of the same name', () => {
    expect(known('u2')).toBeUndefined();
  });

  it('is not known of pages whose group cannot be read, nor where there are none', () => {
    const other = { ...web, metadata: { ...web.metadata, name: 'other' } };
    before.keep([other], { pagesOf: () => [page('850', ['c1'], 'x')] }, '500');
    expect(before.of('team-a/other', 'u1')).toBeUndefined();
    before.keep([other], { pagesOf: () => [] }, '500');
    expect(before.of('team-a/other', 'u1')).toBeUndefined();
  });
});
