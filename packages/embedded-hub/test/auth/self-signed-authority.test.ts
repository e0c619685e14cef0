import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 31, 12, 30, 15);

describe('a new authority', () => {
  const { certPem } = createAuthority('berth-member-ca “x, CN=y”', NOW_MS);
  const cert = new X509Certificate(certPem);

  it('is one, signed by itself, under its very name', () => {
    expect(cert.ca).toBe(true);
    expect(cert.verify(cert.publicKey)).toBe(true);
    expect(cert.checkIssued(cert)).toBe(true);
    expect(cert.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect((cert.toLegacyObject().subject as { CN: string }).CN).toBe('berth-member-ca “x, CN=y”');
    expect(cert.toString()).toBe(certPem);
  });

  it.each([
    [NOW_MS, 'Jan 31 12:25:15 2026 GMT', 'Jan 29 12:30:15 2036 GMT'],
    // From 2050 on times are written in another way.
    [Date.UTC(2045, 5, 1), 'May 31 23:55:00 2045 GMT', 'May 30 00:00:00 2055 GMT'],
  ])('is good for ten years from %i', (nowMs, from, to) => {
    const made = new X509Certificate(createAuthority('x', nowMs).certPem);
    expect([made.validFrom, made.validTo]).toEqual([from, to]);
  });

  it('never has the serial number or the key of another', () => {
    const others = Array.from(
      { length: 20 },
      () => new X509Certificate(createAuthority('x', NOW_MS).certPem),
    );
    expect(new Set(others.map((one) => one.serialNumber)).size).toBe(20);
    expect(new Set(others.map((one) => one.publicKey.export({ type: 'spki', format: 'pem' }))).size).toBe(20);
  });

  it('issues certificates that name its key and its name', async () => {
    const pair = createAuthority('berth-member-ca x', NOW_MS);
    const authority = await CertificateAuthority.load(pair);
    const subject = { commonName: 'alice', organizations: ['devs'] };
    const issued = new X509Certificate((await authority.issueClient(subject, NOW_MS, DAY_MS)).certPem);
    const issuer = new X509Certificate(pair.certPem);
    // Both compare the identifier of the key as well.
    expect(issued.checkIssued(issuer)).toBe(true);
    expect(issued.verify(issuer.publicKey)).toBe(true);
    expect(
      issued.checkIssued(new X509Certificate(createAuthority('berth-member-ca x', NOW_MS).certPem)),
    ).toBe(false);
  });
});
