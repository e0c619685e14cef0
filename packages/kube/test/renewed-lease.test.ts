import { LEASE } from '@berth/kube/model/kinds';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { describe, expect, it } from 'vitest';
import { RenewedLease } from '../src/renewed-lease.ts';

const KEY = { namespace: 'agents', name: 'hello' };
const clock = new FakeClock();

const specOf = async (api: FakeKubeApi): Promise<unknown> => (await api.get(LEASE, KEY))?.['spec'];

describe('a lease that is renewed', () => {
  it('is created where that is wanted, and keeps what it was created with', async () => {
    const api = new FakeKubeApi();
    const lease = new RenewedLease(api, KEY, { clock, created: { leaseDurationSeconds: 60 } });
    await lease.renew();
    const first = await specOf(api);
    expect(first).toEqual({ leaseDurationSeconds: 60, renewTime: expect.any(String) });
    await clock.advance(60_000);
    await lease.renew();
    expect(await specOf(api)).toMatchObject({ leaseDurationSeconds: 60 });
    expect(await specOf(api)).not.toEqual(first);
  });

  it('is created again when somebody deleted it', async () => {
    const api = new FakeKubeApi();
    const lease = new RenewedLease(api, KEY, { clock, created: { leaseDurationSeconds: 60 } });
    await lease.renew();
    await api.delete(LEASE, KEY);
    await lease.renew();
    expect(await specOf(api)).toMatchObject({ leaseDurationSeconds: 60 });
  });

  it('waits for the other process that creates it', async () => {
    const api = new FakeKubeApi();
    const lease = new RenewedLease(api, KEY, { clock });
    await expect(lease.renew()).rejects.toMatchObject({ code: 'kube.notfound' });
    await api.create(LEASE, {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: KEY },
      spec: { holderIdentity: 'another' },
    });
    await lease.renew();
    expect(await specOf(api)).toEqual({ holderIdentity: 'another', renewTime: expect.any(String) });
  });
});
