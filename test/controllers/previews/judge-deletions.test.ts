import { describe, expect, it } from 'vitest';
import { type DeletionContext, judgeDeletions } from '../../../src/controllers/previews/judge-deletions.ts';
import { APPLICATION_SET } from '../../../src/core/argocd/argocd-kinds.ts';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';

const settings = (n: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `s${n}`, namespace: 'team-a' },
});
const fleet = (
  count: number,
  over: { readonly applies?: boolean; readonly deletionWindowMs?: number } = {},
) => ({
  name: 'fleet',
  rank: 0,
  budget: undefined,
  deletionWindowMs: undefined,
  allowEmpty: false,
  applies: true,
  kinds: ['*'],
  complete: true,
  objects: Array.from({ length: count }, (_, n) => ({
    object: settings(n),
    location: { file: 'a.yaml', line: 1, column: 1 },
  })),
  ...over,
});
const NOW = '2026-01-01T00:00:00Z';
const FIVE_MINUTES_AGO = `${Date.parse(NOW) - 300_000}*3`;

describe('deletions that a plan tells of', () => {
  it.each<{
    readonly name: string;
    readonly memory?: DeletionContext['memory'];
    readonly head?: ReturnType<typeof fleet>;
    readonly held?: string;
    readonly note?: string;
  }>([
    { name: 'none', head: fleet(20), memory: undefined },
    { name: 'none that Berth makes', head: fleet(0, { applies: false }) },
    { name: 'a few, and no hub', note: 'count as well: only a hub knows (--hub).' },
    { name: 'a few', memory: { annotations: {} } },
    {
      name: 'a few after others',
      memory: { annotations: { 'berth.dev/recent-deletions': FIVE_MINUTES_AGO } },
      held: '3 of 20 objects left Git, after 3 that were deleted in the 10 minutes before (budget 5)',
    },
    {
      name: 'a few long after others',
      head: fleet(17, { deletionWindowMs: 120_000 }),
      memory: { annotations: { 'berth.dev/recent-deletions': FIVE_MINUTES_AGO } },
    },
    {
      name: 'a few, and a hub that does not let everybody read',
      memory: { problem: 'GET …: the server answered 403: forbidden' },
      note: 'count as well. They cannot be read: GET …: the server answered 403: forbidden',
    },
  ])('$name', async ({ head = fleet(17), memory, held, note }) => {
    const base = fleet(20);
    const judged = await judgeDeletions(base, head, { before: [base], all: [head], memory, now: NOW });
    expect(judged.held?.message.split(';')[0]).toBe(held);
    expect(judged.notEvaluated).toEqual(
      note === undefined
        ? []
        : [expect.stringMatching(new RegExp(`${note.replace(/[()]/g, '.')}$`)) as string],
    );
  });

  it('are held while the hub does not serve a kind of Git, also one that is known without a hub', async () => {
    const applicationSet = {
      object: {
        apiVersion: 'argoproj.io/v1alpha1',
        kind: 'ApplicationSet',
        metadata: { name: 'shop', namespace: 'argocd' },
      },
      location: { file: 'shop.yaml', line: 1, column: 1 },
    };
    const withSet = (count: number) => {
      const one = fleet(count);
      return { ...one, kinds: [], objects: [...one.objects, applicationSet] };
    };
    const [base, head] = [withSet(20), withSet(20)];
    const cluster = (name: string) => ({
      object: {
        apiVersion: 'cluster.open-cluster-management.io/v1',
        kind: 'ManagedCluster',
        metadata: { name },
      },
      location: { file: `${name}.yaml`, line: 1, column: 1 },
    });
    base.objects.push(cluster('c1'), cluster('c2'));
    head.objects.push(cluster('c1'));
    const judge = (hub: FakeKubeApi) =>
      judgeDeletions(base, head, { before: [base], all: [head], memory: { annotations: {} }, hub, now: NOW });
    expect((await judge(new FakeKubeApi())).held?.message).toContain(
      'ApplicationSet argocd/shop (shop.yaml:1:1)',
    );
    const served = new FakeKubeApi();
    served.addKind(APPLICATION_SET);
    served.addKind(CONFIG_MAP);
    expect((await judge(served)).held).toBeUndefined();
  });
});
