import { describe, expect, it } from 'vitest';
import type { AggregatedApi } from '../../src/aggregation/api-services.ts';
import { RemoteDiscovery } from '../../src/aggregation/remote-discovery.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';

/** A server without an address: asking it fails at once. */
const API: AggregatedApi = {
  name: 'v1.ext.example.com',
  group: 'ext.example.com',
  version: 'v1',
  host: '',
  port: 443,
  serverName: 'ext.default.svc',
  caPem: undefined,
  insecure: false,
};

function discovery() {
  const clock = new FakeClock();
  const remote = new RemoteDiscovery(clock);
  let asked = 0;
  const ask = (api: AggregatedApi = API) =>
    remote.documentsOf(api, () => {
      asked += 1;
      return Promise.resolve({ certPem: '', keyPem: '' });
    });
  return { clock, remote, ask, asked: () => asked };
}

describe('what is known of the servers of aggregated APIs', () => {
  it('is asked for once a minute, by however many', async () => {
    const { clock, ask, asked } = discovery();
    await Promise.all([ask(), ask(), ask()]);
    await ask();
    expect(asked()).toBe(1);
    await clock.advance(59_999);
    await ask();
    expect(asked()).toBe(1);
    await clock.advance(1);
    expect(await ask()).toMatchObject({ current: false });
    expect(asked()).toBe(2);
  });

  it('is asked for again when the APIService names another server', async () => {
    const { ask, asked } = discovery();
    await ask();
    await ask({ ...API, port: 8443 });
    expect(asked()).toBe(2);
    await ask({ ...API, port: 8443 });
    expect(asked()).toBe(2);
  });

  it('is forgotten with the APIService', async () => {
    const { remote, ask, asked } = discovery();
    await ask();
    remote.keepOnly(new Set([API.name]));
    await ask();
    expect(asked()).toBe(1);
    remote.keepOnly(new Set());
    await ask();
    expect(asked()).toBe(2);
  });
});
