import { describe, expect, it } from 'vitest';
import { firstMissing, MIGRATION_STEPS, runExample } from '../../e2e/run-example.ts';
import { ARGO_CONTROLLER_PROGRAMS } from '../peers/argocd-controller.ts';
import { hasPeers } from '../peers/peer-programs.ts';

describe.skipIf(!hasPeers(...ARGO_CONTROLLER_PROGRAMS))('the examples for Argo CD, with its programs', () => {
  it('argocd-push: Argo CD syncs to the clusters that the placement selects', async () => {
    const text = await runExample('argocd-push');
    const [before = '', after = ''] = text.split('Committed: the placement selects west, too.');
    expect(before).toMatch(/shop-east +east +Synced +Healthy\n/);
    expect(before).not.toContain('shop-west');
    expect(after).toMatch(/shop-east +east +Synced +Healthy\nshop-west +west +Synced +Healthy\n/);
    expect(after).toContain('"greeting": "hello"');
  });

  it('migration: an Application moves for a maintenance and for an outage', async () => {
    const text = await runExample('migration');
    expect(text).not.toContain('stand-in');
    expect(firstMissing(text, MIGRATION_STEPS)).toBeUndefined();
  });
});
