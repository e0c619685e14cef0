import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { Reflector } from '@berth/kube/cache/reflector';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { BreakingProxy, type ProxyMood } from '../../../packages/kube/test/fakes/breaking-proxy.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { drawn } from '@berth/test-kit/seeded-random';
import { limitAbove } from '../../fakes/limit-above.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const cluster = (name: string, step: number): KubeObject => ({
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: { name, labels: { step: String(step) } },
  spec: { hubAcceptsClient: true, leaseDurationSeconds: 60 },
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('a reflector behind a proxy that cuts, stalls and refuses ends with what the hub has, and told every change', async () => {
  const hub = await startEmbeddedHub();
  stops.push(hub.close);
  const random = drawn();
  const proxy = new BreakingProxy(hub.hub.port, random);
  const port = await proxy.listen();
  stops.push(() => proxy.close());
  const text = readFileSync(hub.kubeconfig, 'utf8').replace(`:${hub.hub.port}`, `:${port}`);
  const client = (limits: { requestTimeoutMs?: number } = {}) =>
    new HttpKubeApi({ config: loadKubeConfig({ text }), clock: systemClock, partSize: 7, ...limits });
  const limitMs = await limitAbove(500, async () => {
    const another = client();
    await another.list(MANAGED_CLUSTER);
    another.close();
  });
  const connectionsBefore = proxy.connections;
  const api = client({ requestTimeoutMs: limitMs });
  const reflector = new Reflector({
    api,
    kind: MANAGED_CLUSTER,
    clock: systemClock,
    random,
    log: new SilentLogger(),
    backoff: { initialMs: 5, maxMs: 50 },
    silenceLimitMs: 0.8 * limitMs,
  });
  /** What a listener believes from changes alone. */
  const believed = new Map<string, string | undefined>();
  reflector.store.onChange(({ key, after }) => {
    if (after === undefined) believed.delete(key);
    else believed.set(key, after.metadata.resourceVersion);
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  stops.push(async () => {
    stop.abort();
    api.close();
    await running;
  });

  const moods: ProxyMood[] = ['pass', 'cut', 'pass', 'silent', 'refuse', 'cut', 'silent', 'pass'];
  const connections = () => proxy.connections - connectionsBefore;
  for (let step = 0; step < 160 || connections() <= 5; step++) {
    if (step % 10 === 0) proxy.set(moods[(step / 10) % moods.length]!);
    const name = `c${Math.floor(random() * 30)}`;
    if (random() < 0.3) await hub.api.delete(MANAGED_CLUSTER, { namespace: '', name });
    else await hub.api.apply(MANAGED_CLUSTER, cluster(name, step), { fieldManager: 'soak' });
    // fixed wait: the rate of the load
    await pause(12);
  }
  proxy.set('pass');
  const { items } = await hub.api.list(MANAGED_CLUSTER);
  const truth = Object.fromEntries(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  const sorted = (versions: Record<string, string | undefined>) => Object.entries(versions).sort();
  await expect.poll(() => sorted(Object.fromEntries(believed))).toEqual(sorted(truth));
  const now = systemClock.now();
  await hub.api.apply(MANAGED_CLUSTER, cluster('last', 0), { fieldManager: 'soak' });
  // An event of before may prove that the watch lives while this one is on its way.
  await expect.poll(() => believed.has('last')).toBe(true);
  expect(systemClock.now() - reflector.stalenessMs()).toBeGreaterThanOrEqual(now);
});
