import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { MANAGED_CLUSTER, MANIFEST_WORK, PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import {
  applyNamedWork,
  createReplicaSet,
  planNamedWork,
  type WorkTarget,
} from '../../../src/controllers/works/create-named-work.ts';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { template } from '../../core/work/replica-set-harness.ts';
import { makeCliIo } from '../../app/cli-harness.ts';

const CLUSTER_API = 'cluster.open-cluster-management.io/v1beta1';
const placement: WorkTarget = { type: 'placement', namespace: 'default', name: 'placement1' };
const clusters = (...names: string[]): WorkTarget => ({ type: 'clusters', clusters: names });

let hub: FakeKubeApi;
beforeEach(() => {
  hub = new FakeKubeApi();
});

async function select(names: readonly string[], expected = names.length): Promise<void> {
  const key = { namespace: 'default', name: 'placement1' };
  const decision = { namespace: 'default', name: 'placement1-decision-1' };
  if ((await hub.get(PLACEMENT, key)) === undefined) {
    await hub.create(PLACEMENT, { apiVersion: CLUSTER_API, kind: 'Placement', metadata: key, spec: {} });
    const labels = { 'cluster.open-cluster-management.io/placement': 'placement1' };
    await hub.create(PLACEMENT_DECISION, {
      apiVersion: CLUSTER_API,
      kind: 'PlacementDecision',
      metadata: { ...decision, labels },
    });
  }
  const decisions = names.map((clusterName) => ({ clusterName, reason: '' }));
  await hub.mergePatch(PLACEMENT_DECISION, decision, { status: { decisions } }, { subresource: 'status' });
  await hub.mergePatch(
    PLACEMENT,
    key,
    { status: { numberOfSelectedClusters: expected } },
    { subresource: 'status' },
  );
}

async function create(
  target: WorkTarget,
  specs: readonly ManifestWorkSpec[],
  overwrite = false,
): Promise<string[]> {
  const plan = await planNamedWork(hub, { name: 'web', target, specs, overwrite });
  await applyNamedWork(hub, plan);
  const all = await hub.list(MANIFEST_WORK);
  return all.items.map(({ metadata, spec }) => {
    const { workload } = spec as { workload: { manifests: { data: { value: string } }[] } };
    return `${metadata.namespace}/${metadata.name}=${workload.manifests[0]?.data.value}`;
  });
}

describe('berth create work', () => {
  it('creates on the named clusters, refuses other content without --overwrite, changes with it', async () => {
    expect(await create(clusters('c1', 'c2'), [template('1')])).toEqual(['c1/web=1', 'c2/web=1']);
    await expect(create(clusters('c1', 'c3'), [template('2')])).rejects.toThrow(
      'exists with different content',
    );
    expect((await hub.list(MANIFEST_WORK)).items).toHaveLength(2);
    expect(await create(clusters('c1'), [template('2')], true)).toEqual(['c1/web=2', 'c2/web=1']);
  });

  it('makes no work on a cluster that is being deleted: refuses its name, skips it where a placement selects it', async () => {
    const metadata = { name: 'c1', finalizers: ['test/keep'] };
    await hub.create(MANAGED_CLUSTER, { apiVersion: CLUSTER_API, kind: 'ManagedCluster', metadata });
    await hub.delete(MANAGED_CLUSTER, { namespace: '', name: 'c1' });
    await expect(create(clusters('c1'), [template('1')])).rejects.toThrow(
      'ManagedCluster c1: is being deleted',
    );
    await select(['c1', 'c2']);
    expect(await create(placement, [template('1')])).toEqual(['c2/web=1']);
  });

  it('follows a placement when it is run again', async () => {
    await select(['c1', 'c2']);
    expect(await create(placement, [template('1')])).toEqual(['c1/web=1', 'c2/web=1']);
    await select(['c1']);
    expect(await create(placement, [template('1')], true)).toEqual(['c1/web=1']);
  });

  it('leaves alone a work of the same name that it did not make', async () => {
    await hub.create(MANIFEST_WORK, {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { name: 'web', namespace: 'c9' },
      spec: template('theirs'),
    });
    await select(['c1']);
    expect(await create(placement, [template('1')], true)).toEqual(['c1/web=1', 'c9/web=theirs']);
  });

  it('does nothing while the decisions are not complete', async () => {
    await select(['c1', 'c2']);
    await create(placement, [template('1')]);
    await select(['c1'], 2);
    await expect(create(placement, [template('1')], true)).rejects.toThrow(
      'selects 2 clusters, but its decisions contain 1',
    );
    expect((await hub.list(MANIFEST_WORK)).items).toHaveLength(2);
  });

  it('spreads what is too large over parts, and takes a part away that is not needed any more', async () => {
    expect(await create(clusters('c1'), [template('1'), template('2')])).toEqual([
      'c1/web=1',
      'c1/web-part-1=2',
    ]);
    expect(await create(clusters('c1'), [template('1')], true)).toEqual(['c1/web=1']);
  });

  it('makes a replica set that follows the placement', async () => {
    await select(['c1']);
    const request = { name: 'web', target: placement as never, specs: [template('1')], overwrite: false };
    expect(await createReplicaSet(hub, request)).toBe('created');
    await expect(createReplicaSet(hub, request)).rejects.toThrow('exists');
    expect(await createReplicaSet(hub, { ...request, overwrite: true, specs: [template('2')] })).toBe(
      'updated',
    );
  });

  it.each([
    { args: [], text: "required option '-f, --filename <path...>' not specified" },
    { args: ['-f', 'm'], text: 'expected exactly one of the two' },
    { args: ['-f', 'm', '--clusters', 'a', '--placement', 'n/p'], text: 'expected exactly one of the two' },
    { args: ['-f', 'm', '--placement', 'p'], text: 'got "p", expected namespace/name' },
    { args: ['-f', 'm', '--clusters', 'a', '--replicaset'], text: 'needs --placement' },
    { args: ['-f', 'm', '--clusters', ' , '], text: 'expected names of managed clusters' },
    { args: ['-f', 'gone', '--clusters', 'a'], text: 'cannot be read' },
    { args: ['-f', 'bad.yaml', '--clusters', 'a'], text: 'bad.yaml:1:' },
    { args: ['-f', 'nameless.yaml', '--clusters', 'a'], text: 'metadata' },
  ])('says what is wrong with $args', async ({ args, text }) => {
    const cwd = mkdtempSync(path.join(os.tmpdir(), 'berth-'));
    mkdirSync(path.join(cwd, 'm'));
    writeFileSync(path.join(cwd, 'm/a.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n');
    writeFileSync(path.join(cwd, 'bad.yaml'), 'kind: [');
    writeFileSync(path.join(cwd, 'nameless.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n');
    const { io, stderr } = makeCliIo({ cwd });
    expect(await runCli(['create', 'work', 'web', ...args], io)).toBe(1);
    expect(stderr()).toContain(text);
  });
});
