import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const labels = { app: 'web', tier: 'front' };

describe('the scale of a workload', () => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await startTestHub();
    const selector = {
      matchLabels: labels,
      matchExpressions: [
        { key: 'zone', operator: 'In', values: ['a', 'b'] },
        { key: 'old', operator: 'DoesNotExist' },
      ],
    };
    const template = {
      metadata: { labels: { ...labels, zone: 'a' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    const made = await hub.call('POST', DEPLOYMENTS, {
      body: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: { replicas: 2, selector, template },
      },
    });
    expect(made.status).toBe(201);
  });
  afterAll(() => hub.stop());

  it('says the whole selector, read and written alike: autoscalers count pods by it', async () => {
    const selector = 'app=web,tier=front,zone in (a,b),!old';
    const read = await hub.call('GET', `${DEPLOYMENTS}/web/scale`);
    expect(read.body).toMatchObject({ kind: 'Scale', spec: { replicas: 2 }, status: { selector } });
    const type = 'application/merge-patch+json';
    const written = await hub.call('PATCH', `${DEPLOYMENTS}/web/scale`, {
      type,
      body: { spec: { replicas: 3 } },
    });
    expect(written.body).toMatchObject({ kind: 'Scale', spec: { replicas: 3 }, status: { selector } });
  });
});
