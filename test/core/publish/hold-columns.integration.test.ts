import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTestHub, type TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { withHoldColumns } from '../../../src/core/publish/hold-columns.ts';

const PLACEMENTS = '/apis/cluster.open-cluster-management.io/v1beta1/namespaces/default/placements';

let hub: TestHub;
beforeEach(async () => {
  const definitions = withHoldColumns(OCM_HUB_KINDS.definitions);
  hub = await startTestHub({ kinds: { ...OCM_HUB_KINDS, definitions } });
});
afterEach(() => hub.stop());

it('a table of placements has columns of holds, which only -o wide shows', async () => {
  const placement = {
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'Placement',
    metadata: { name: 'web' },
    spec: {},
  };
  expect((await hub.call('POST', PLACEMENTS, { body: placement })).status).toBe(201);
  const held = {
    type: 'berth.dev/Held',
    status: 'True',
    reason: 'WouldEmpty',
    message: 'held',
    lastTransitionTime: '2026-03-01T12:00:00Z',
  };
  await hub.call('PATCH', `${PLACEMENTS}/web/status`, {
    body: { status: { conditions: [held] } },
    type: 'application/merge-patch+json',
  });
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const { body } = await hub.call('GET', PLACEMENTS, { accept });
  const table = body as {
    readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
    readonly rows: readonly { readonly cells: readonly unknown[] }[];
  };
  expect(table.columnDefinitions.map(({ name, priority }) => `${name} ${priority}`)).toEqual([
    'Name 0',
    'Succeeded 0',
    'Reason 0',
    'SelectedClusters 0',
    'Held 1',
    'Why 1',
    'Since 1',
  ]);
  expect(table.rows[0]?.cells.slice(4, 6)).toEqual(['True', 'WouldEmpty']);
  expect(String(table.rows[0]?.cells[6])).toMatch(/^\d+[dy]/);
});
