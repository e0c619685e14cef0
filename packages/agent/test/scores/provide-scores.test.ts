import { afterEach, expect, it } from 'vitest';
import { provideScores } from '../../src/scores/provide-scores.ts';
import { ADDON_PLACEMENT_SCORE, NODE, POD } from '@berth/kube/model/kinds';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const stopping: AbortController[] = [];
afterEach(() => stopping.splice(0).forEach((one) => one.abort()));

it('writes scores when they change, and again before they run out', async () => {
  const [hub, cluster, clock] = [new FakeKubeApi(), new FakeKubeApi(), new FakeClock()];
  const stop = new AbortController();
  stopping.push(stop);
  await cluster.create(NODE, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1' },
    status: { allocatable: { cpu: '60', memory: '512Gi' } },
  });
  const running = provideScores(
    {
      hub,
      cluster,
      clusterName: 'c1',
      scoreName: 'resource-usage-score',
      measure: 'requests',
      refreshMs: 60_000,
      validMs: 300_000,
      clock,
      random: () => 0,
      log: new SilentLogger(),
    },
    stop.signal,
  );
  const status = async () =>
    (await hub.get(ADDON_PLACEMENT_SCORE, { namespace: 'c1', name: 'resource-usage-score' }))?.['status'];
  const writes = () => hub.writes.length;
  await clock.advance(1_000);
  expect(await status()).toEqual({
    scores: [
      { name: 'cpuAvailable', value: 20 },
      { name: 'memAvailable', value: 0 },
    ],
    validUntil: '2026-01-01T00:05:00Z',
  });
  expect(writes()).toBe(2);
  await clock.advance(120_000);
  expect(writes()).toBe(2);
  await clock.advance(60_000);
  expect(writes()).toBe(3);
  expect(await status()).toMatchObject({ validUntil: '2026-01-01T00:08:00Z' });
  await cluster.create(POD, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'a', name: 'p' },
    spec: { containers: [{ resources: { requests: { cpu: '10' } } }] },
  });
  await clock.advance(60_000);
  expect(await status()).toMatchObject({ scores: [{ value: 0 }, { value: 0 }] });
  stop.abort();
  await running;
});
