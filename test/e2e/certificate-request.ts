import 'reflect-metadata';
import type { KeyObject } from 'node:crypto';
import { createPublicKey, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };

/** A PKCS#10 request, PEM, as an agent makes it from its own P-256 key. */
export async function makeCertificateRequest(
  privateKey: KeyObject,
  subject: { readonly commonName: string; readonly organization: string },
): Promise<string> {
  x509.cryptoProvider.set(webcrypto as never);
  const { subtle } = webcrypto;
  const publicDer = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const keys = {
    privateKey: await subtle.importKey(
      'pkcs8',
      privateKey.export({ type: 'pkcs8', format: 'der' }),
      ALGORITHM,
      true,
      ['sign'],
    ),
    publicKey: await subtle.importKey('spki', publicDer, ALGORITHM, true, ['verify']),
  };
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ O: [subject.organization] }, { CN: [subject.commonName] }],
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
  });
  return `${request.toString('pem')}\n`;
}
