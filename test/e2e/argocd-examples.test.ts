import { describe, expect, it } from 'vitest';
import { firstMissing, MIGRATION_STEPS, runExample } from './run-example.ts';

/** As on a machine without Argo CD; test/interop/argocd/examples.test.ts has the programs. */
const WITHOUT_ARGO_CD = { BERTH_PEERS: '/nowhere' };

describe('the examples for Argo CD, without its programs', () => {
  it('argocd-pull: an Application goes to its cluster, and its status comes back', async () => {
    const text = await runExample('argocd-pull');
    expect(text).toContain('ManifestWork east/shop-');
    const [, status = ''] = text.split('The status of the Application on the hub');
    expect(JSON.parse(status)).toEqual({
      health: { status: 'Healthy' },
      sync: { status: 'Synced', revision: 'abc' },
    });
  });

  it('argocd-push: the clusters are registered, and what Argo CD would make follows the placement', async () => {
    const text = await runExample('argocd-push', WITHOUT_ARGO_CD);
    const [before = '', after = ''] = text.split('Committed: the placement selects west, too.');
    expect(before).toMatch(/argocd\/east-cluster-secret +east\nargocd\/west-cluster-secret +west\n/);
    expect(before).toContain('Not found on this machine: argocd');
    expect(before).toMatch(/argocd +shop-east +default +east +shop\n/);
    expect(before).not.toContain('shop-west');
    expect(after).toMatch(/shop-east .*\n.*shop-west +default +west +shop\n/);
  });

  it('migration: an Application moves for a maintenance and for an outage, and the history tells of it', async () => {
    const text = await runExample('migration', WITHOUT_ARGO_CD);
    expect(text).toContain('a stand-in for Argo CD runs');
    expect(firstMissing(text, MIGRATION_STEPS)).toBeUndefined();
  });
});
