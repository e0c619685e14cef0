import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FrontProxyIdentity } from '../../src/aggregation/aggregator.ts';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { FakeClock } from '@berth/test-kit/fake-clock';

const DAY_MS = 86_400_000;

async function identity() {
  const clock = new FakeClock();
  const authority = await CertificateAuthority.load(createAuthority('front-proxy-ca', clock.now()));
  const front = new FrontProxyIdentity(authority, clock);
  const serial = async () => new X509Certificate((await front.current()).certPem).serialNumber;
  return { clock, front, serial };
}

describe('the certificate with which the hub authenticates to extension servers', () => {
  it('is used again for half of its lifetime', async () => {
    const { clock, serial } = await identity();
    const first = await serial();
    await clock.advance(15 * DAY_MS - 1);
    expect(await serial()).toBe(first);
  });

  it('is renewed long before it expires', async () => {
    const { clock, front, serial } = await identity();
    const first = await serial();
    await clock.advance(15 * DAY_MS);
    expect(await serial()).not.toBe(first);
    const { validTo } = new X509Certificate((await front.current()).certPem);
    expect(Date.parse(validTo) - clock.now()).toBe(30 * DAY_MS);
  });

  it.each([20, 29])('is valid after %i days without a request', async (days) => {
    const { clock, front } = await identity();
    await front.current();
    await clock.advance(days * DAY_MS);
    const { validTo } = new X509Certificate((await front.current()).certPem);
    expect(Date.parse(validTo) - clock.now()).toBeGreaterThan(14 * DAY_MS);
  });
});
