import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { type Agent, startAgent } from '@berth/agent/start-agent';
import type { AppliedManifestWorkStatus } from '@berth/ocm/kind/applied-manifest-work';
import { APPLIED_MANIFEST_WORK, MANIFEST_WORK, NAMESPACE } from '@berth/kube/model/kinds';
import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { startHub } from '@berth/embedded-hub/start-hub';
import { OCM_HUB, startEmbeddedHub } from '../fakes/embedded-hub.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { SteeredClock } from '../fakes/steered-clock.ts';
import { CONFIG_MAP, configMap, workOf } from '../../packages/agent/test/agent-harness.ts';

let root: string;
let hub: RunningHub;
let hubApi: HttpKubeApi;
let cluster: Awaited<ReturnType<typeof startEmbeddedHub>>;
let agent: Agent;
let clock: SteeredClock;

const GRACE_MS = 3_600_000;

const data = (): string => join(root, 'data');
const backup = (): string => join(root, 'backup');

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'berth-restored-'));
  hub = await startHub({ ...OCM_HUB, dataDir: data() });
  hubApi = new HttpKubeApi({ config: loadKubeConfig({ file: hub.adminKubeconfigPath }), clock: systemClock });
  cluster = await startEmbeddedHub();
  await hubApi.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cluster1' } });
  clock = new SteeredClock();
  agent = startAgent({
    hub: hubApi,
    cluster: cluster.api,
    clusterName: 'cluster1',
    clock,
    log: new SilentLogger(),
    evictionGraceMs: GRACE_MS,
  });
});

afterEach(async () => {
  await agent.close();
  hubApi.close();
  await hub.close();
  await cluster.close();
  await rm(root, { recursive: true, force: true });
});

/** @param change made to the data directory while the hub is down */
async function restartHub(change: () => Promise<void>): Promise<void> {
  const { port } = hub;
  await hub.close();
  await change();
  hub = await startHub({ ...OCM_HUB, dataDir: data(), listen: { port } });
}

async function createWork(name: string): Promise<void> {
  await hubApi.create(MANIFEST_WORK, {
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { namespace: 'cluster1', name },
    spec: workOf(configMap(name)),
  });
}

async function onCluster(name: string): Promise<string> {
  const found = await cluster.api.get(CONFIG_MAP, { namespace: 'default', name });
  return found === undefined ? 'absent' : JSON.stringify(found['data']);
}

async function evictions(): Promise<number> {
  const { items } = await cluster.api.list(APPLIED_MANIFEST_WORK);
  const started = items.map(
    (item) => (item['status'] as AppliedManifestWorkStatus | undefined)?.evictionStartTime,
  );
  return started.filter((at) => at !== undefined).length;
}

it('a hub restored from a backup is followed by an agent that never stopped', async () => {
  await createWork('kept');
  await expect.poll(() => onCluster('kept')).toBe('{"x":"1"}');
  await restartHub(() => cp(data(), backup(), { recursive: true }));

  await createWork('lost');
  await hubApi.mergePatch(
    MANIFEST_WORK,
    { namespace: 'cluster1', name: 'kept' },
    { spec: workOf(configMap('kept', { x: '2' })) },
  );
  await expect.poll(() => onCluster('kept')).toBe('{"x":"2"}');
  await expect.poll(() => onCluster('lost')).toBe('{"x":"1"}');

  await restartHub(async () => {
    await rm(data(), { recursive: true });
    await cp(backup(), data(), { recursive: true });
  });
  await expect.poll(() => onCluster('kept')).toBe('{"x":"1"}');
  await expect.poll(evictions).toBe(1);
  expect(await onCluster('lost')).toBe('{"x":"1"}');
  clock.skip(GRACE_MS);
  await expect.poll(() => onCluster('lost')).toBe('absent');
  await expect.poll(evictions).toBe(0);
});
