import { createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readRequest } from '../../src/x509/certificate-request.ts';
import type { CertificateRequestObject } from '../../src/model/signing-request.ts';
import {
  freshKey,
  type HostileRequest,
  pemOf,
  plainSubject,
  requestDer,
  requestPem,
} from '../../../../test/security/certificate-requests.ts';

const privateKey = freshKey();
const good = { subject: plainSubject('user', 'g1', 'g2'), privateKey };

const csr = (pem: string): CertificateRequestObject => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'x' },
  spec: { request: Buffer.from(pem).toString('base64') },
});

it('reads the names that a request asks for', () => {
  expect(readRequest(csr(requestPem(good)))).toEqual({
    kind: 'subject',
    commonName: 'user',
    organizations: ['g1', 'g2'],
    organizationalUnits: [],
    publicKeyDer: createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    ...{ asksForExtensions: false, dnsNames: [] },
  });
});

it('reads the DNS names that a request asks for, and that it asks for nothing else', () => {
  const asked = (over: Partial<HostileRequest>) => readRequest(csr(requestPem({ ...good, ...over })));
  expect(asked({ dnsNames: ['a.example.com', 'b'] })).toMatchObject({
    ...{ asksForExtensions: true, dnsNames: ['a.example.com', 'b'] },
  });
  expect(asked({ dnsNames: ['a'], wantsAuthority: true })).toMatchObject({ dnsNames: undefined });
  expect(asked({ dnsNames: ['a'], paddingBytes: 3 })).toMatchObject({ dnsNames: undefined });
  expect(asked({ dnsNames: ['a\n'] })).toMatchObject({ dnsNames: undefined });
});

it('reads organizational units', () => {
  const subject = [...plainSubject('user'), [{ type: 'OU' as const, value: 'unit-7' }]];
  expect(readRequest(csr(requestPem({ ...good, subject })))).toMatchObject({
    organizationalUnits: ['unit-7'],
  });
});

it('sees that a request asks for subject alternative names', () => {
  expect(readRequest(csr(requestPem({ ...good, wantsAuthority: true })))).toMatchObject({
    asksForExtensions: true,
  });
});

describe('nothing is read', () => {
  it.each([
    ['of two blocks', () => requestPem(good) + requestPem(good)],
    ['of a block of another kind', () => pemOf('CERTIFICATE', requestDer(good))],
    ['of a block after another', () => pemOf('CERTIFICATE', requestDer(good)) + requestPem(good)],
    ['of text before the block', () => `hello\n${requestPem(good)}`],
    ['of a signature by another key', () => requestPem({ ...good, publicKey: createPublicKey(freshKey()) })],
    [
      'of two common names',
      () => requestPem({ ...good, subject: [...plainSubject('a', 'g'), ...plainSubject('b')] }),
    ],
    ['of a name with a control character', () => requestPem({ ...good, subject: plainSubject('a\u0000b') })],
    ['of nothing', () => ''],
  ])('%s', (_, pem) => {
    expect(readRequest(csr(pem())).kind).toBe('malformed');
  });
});
