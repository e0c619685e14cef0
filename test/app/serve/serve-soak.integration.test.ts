import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { BreakingProxy, type ProxyMood } from '../../../packages/kube/test/fakes/breaking-proxy.ts';
import { limitAbove } from '../../fakes/limit-above.ts';
import { drawn } from '@berth/test-kit/seeded-random';
import { baseFiles, cluster, placement, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const listedOn = (page: KubeObject): string[] =>
  ((page['status'] as { decisions?: { clusterName: string }[] } | undefined)?.decisions ?? []).map(
    ({ clusterName }) => clusterName,
  );
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('a controller whose hub is cut off, silent and gone again and again loses no cluster and ends where Git is', async () => {
  const fleet = await ServedFleet.create();
  stops.push(() => fleet.close());
  const random = drawn();
  const proxy = new BreakingProxy(fleet.hub.hub.port, random);
  const port = await proxy.listen();
  stops.push(() => proxy.close());
  const text = readFileSync(fleet.hub.kubeconfig, 'utf8').replace(`:${fleet.hub.hub.port}`, `:${port}`);
  const client = (limits: { requestTimeoutMs?: number } = {}) =>
    new HttpKubeApi({ config: loadKubeConfig({ text }), clock: systemClock, ...limits });
  const requestTimeoutMs = await limitAbove(400, async () => {
    const another = client();
    await another.list(PLACEMENT);
    another.close();
  });
  const connectionsBefore = proxy.connections;
  const connections = () => proxy.connections - connectionsBefore;
  const api = client({ requestTimeoutMs });
  stops.push(() => api.close());

  /** Round n drains cluster n of the first five; the sixth stays selected all the time. */
  const commit = (round: number): void => {
    const drained = { taints: [{ key: 'drain', value: String(round), effect: 'NoSelect' }] };
    fleet.git.commit({
      ...baseFiles,
      'clusters.yaml': yaml(
        ...[1, 2, 3, 4, 5, 6].map((n) => cluster(`c${n}`, n === 1 + (round % 5) ? drained : {})),
      ),
      'web.yaml': yaml(placement('web', {}, { 'berth.dev/removal-budget': '100%' })),
    });
  };
  commit(0);
  await fleet.serve({ api, random });
  await fleet.published('web');

  // A client on the hub itself sees every write.
  const stop = new AbortController();
  const missing: KubeObject[] = [];
  const { resourceVersion } = await fleet.hub.api.list(PLACEMENT_DECISION);
  const watching = (async () => {
    const selection = { namespace: 'team-a', resourceVersion, signal: stop.signal };
    for await (const event of fleet.hub.api.watch(PLACEMENT_DECISION, selection))
      if (event.type !== 'bookmark' && !listedOn(event.object).includes('c6')) missing.push(event.object);
  })();

  const moods: ProxyMood[] = ['cut', 'pass', 'silent', 'cut', 'refuse', 'pass', 'silent', 'refuse', 'cut'];
  let rounds = 0;
  for (; rounds < moods.length || connections() <= 5; rounds++) {
    proxy.set(moods[rounds % moods.length]!);
    commit(rounds + 1);
    // fixed wait: how long the network stays as bad as it is
    await pause(600);
  }
  proxy.set('cut');
  proxy.set('pass');
  const want = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'].filter((name) => name !== `c${1 + (rounds % 5)}`);
  await fleet.until(async () =>
    [...(await fleet.decisions('web'))].sort().join() === want.join() ? true : undefined,
  );
  await fleet.until(async () =>
    (await fleet.read('web')).status?.numberOfSelectedClusters === 5 ? true : undefined,
  );
  expect(missing).toEqual([]);
  // What the retries left to do is done: then the hub is left alone.
  await fleet.until(async () => {
    const before = (await fleet.hub.api.list(PLACEMENT)).resourceVersion;
    await fleet.advance(1_000);
    return (await fleet.hub.api.list(PLACEMENT)).resourceVersion === before ? true : undefined;
  });
  stop.abort();
  await watching;
});
