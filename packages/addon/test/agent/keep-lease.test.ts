import { LEASE, POD } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { describe, expect, it } from 'vitest';
import { apiServerAnswers, type HealthCheck, keepLease, podsRun } from '@berth/addon/agent';

const NAMESPACE = 'agents';
const KEY = { namespace: NAMESPACE, name: 'hello' };
const never = new AbortController().signal;

async function startLease(health: readonly HealthCheck[], cluster = new FakeKubeApi()) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const log = new SilentLogger();
  const ended = keepLease({
    ...{ cluster, namespace: NAMESPACE, name: 'hello', health, log },
    ...{ signal: stop.signal, clock, random: () => 0.5 },
  });
  await clock.advance(0);
  return {
    clock,
    stop: () => (stop.abort(), ended),
    spec: async () => (await cluster.get(LEASE, KEY))?.['spec'] as { readonly renewTime: string } | undefined,
  };
}

describe('the lease of an add-on', () => {
  it('is there at once, and is renewed every minute with some jitter until the signal aborts', async () => {
    const { clock, stop, spec } = await startLease([]);
    const first = await spec();
    expect(first).toEqual({ leaseDurationSeconds: 60, renewTime: expect.any(String) });
    await clock.advance(60_000);
    expect(await spec()).toEqual(first);
    await clock.advance(7_500);
    const second = await spec();
    expect(second?.renewTime).not.toBe(first?.renewTime);
    await stop();
    await clock.advance(600_000);
    expect(await spec()).toEqual(second);
  });

  it('is renewed only while all checks say yes, and soon after they do', async () => {
    const answers = [true, false];
    const { clock, stop, spec } = await startLease([async () => answers[0]!, async () => answers[1]!]);
    await clock.advance(10_000);
    expect(await spec()).toBe(undefined);
    answers[1] = true;
    await clock.advance(10_000);
    const first = await spec();
    expect(first).toBeDefined();
    answers[0] = false;
    await clock.advance(300_000);
    expect(await spec()).toEqual(first);
    await stop();
  });

  it('is not renewed while a check throws, or does not answer', async () => {
    const cluster = new FakeKubeApi();
    let check: HealthCheck = () => Promise.reject(new Error('no connection'));
    const { clock, stop, spec } = await startLease([(signal) => check(signal)], cluster);
    let given: AbortSignal | undefined;
    check = (signal) => {
      given = signal;
      return new Promise(() => undefined);
    };
    await clock.advance(20_000);
    expect(given?.aborted).toBe(false);
    check = () => Promise.resolve(true);
    await clock.advance(15_000);
    expect(given?.aborted).toBe(true);
    await clock.advance(5_000);
    expect(await spec()).toBeDefined();
    await stop();
  });

  it('comes when its namespace does', async () => {
    class WithoutNamespace extends FakeKubeApi {
      isThere = false;
      override create(...request: Parameters<FakeKubeApi['create']>): Promise<KubeObject> {
        return this.isThere ? super.create(...request) : Promise.reject(new Error('no such namespace'));
      }
    }
    const cluster = new WithoutNamespace();
    const { clock, stop, spec } = await startLease([], cluster);
    expect(await spec()).toBe(undefined);
    cluster.isThere = true;
    await clock.advance(1_000);
    expect(await spec()).toBeDefined();
    await stop();
  });
});

describe('health checks', () => {
  const pod = (name: string, phase: string, ready: string): KubeObject => ({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { namespace: NAMESPACE, name, labels: { app: 'hello' } },
    status: { phase, conditions: [{ type: 'Ready', status: ready }] },
  });

  it.each([
    { name: 'none', pods: [], want: false },
    { name: 'one that runs and is ready', pods: [pod('a', 'Running', 'True')], want: true },
    { name: 'one that is not ready', pods: [pod('a', 'Running', 'False')], want: false },
    { name: 'one that has ended', pods: [pod('a', 'Succeeded', 'True')], want: false },
    { name: 'one of two', pods: [pod('a', 'Failed', 'False'), pod('b', 'Running', 'True')], want: true },
    {
      name: 'one of others',
      pods: [{ ...pod('a', 'Running', 'True'), metadata: { namespace: NAMESPACE, name: 'a' } }],
      want: false,
    },
  ])('pods run: $name', async ({ pods, want }) => {
    const cluster = new FakeKubeApi();
    cluster.addKind(POD);
    for (const one of pods) await cluster.create(POD, one);
    expect(await podsRun(cluster, { app: 'hello' }, NAMESPACE)(never)).toBe(want);
  });

  it.each([
    { name: 'healthy', answers: { '/livez': 200 }, want: true },
    { name: 'without /livez', answers: { '/livez': 404, '/healthz': 200 }, want: true },
    { name: 'that forbids /livez', answers: { '/livez': 403, '/healthz': 200 }, want: true },
    { name: 'that fails', answers: { '/livez': 500, '/healthz': 200 }, want: false },
    { name: 'that does not answer', answers: {}, want: false },
  ])('an API server $name', async ({ answers, want }) => {
    const probe = async (path: string) => {
      const statusCode = (answers as Record<string, number>)[path];
      if (statusCode === undefined) throw new Error('connection refused');
      return { statusCode, text: '' };
    };
    expect(await apiServerAnswers({ probe })(never)).toBe(want);
  });
});
