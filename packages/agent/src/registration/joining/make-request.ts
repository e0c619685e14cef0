import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { DER_TAG, writeDer } from '@berth/kube/x509/der';
import type { ClientSubject } from '../../rules/registration/plan-certificate.ts';

/** A key that is never sent to the hub, and the certificate request that was created with it. Both are PEM. */
export interface OwnRequest {
  readonly keyPem: string;
  readonly requestPem: string;
}

/** What a request asks for. */
export interface RequestContent {
  readonly subject: ClientSubject;
  /** Subject alternative names. */
  readonly dnsNames: readonly string[];
}

/** Creates a new P-256 key, and a PKCS#10 request (RFC 2986) for a client certificate. */
export function makeRequest(content: RequestContent): OwnRequest {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyPem = privateKey.export({ type: 'sec1', format: 'pem' }) as string;
  return { keyPem, requestPem: requestFor(content, keyPem) };
}

const OID = {
  commonName: Buffer.from('550403', 'hex'),
  organization: Buffer.from('55040a', 'hex'),
  organizationalUnit: Buffer.from('55040b', 'hex'),
  subjectAltName: Buffer.from('551d11', 'hex'),
  /** PKCS#9 extensionRequest. */
  extensions: Buffer.from('2a864886f70d01090e', 'hex'),
  ecdsaWithSha256: Buffer.from('2a8648ce3d040302', 'hex'),
};

/** `[2]` of a GeneralName (RFC 5280). */
const DNS_NAME = 0x82;

function requestFor({ subject, dnsNames }: RequestContent, keyPem: string): string {
  const key = createPrivateKey(keyPem);
  const info = writeDer(
    DER_TAG.sequence,
    writeDer(DER_TAG.integer, Buffer.from([0])),
    nameOf(subject),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    writeDer(DER_TAG.context0, ...(dnsNames.length === 0 ? [] : [extensionsOf(dnsNames)])),
  );
  const signature = sign('sha256', info, key);
  const der = writeDer(
    DER_TAG.sequence,
    info,
    writeDer(DER_TAG.sequence, writeDer(DER_TAG.objectId, OID.ecdsaWithSha256)),
    // The first byte is the number of unused bits.
    writeDer(DER_TAG.bitString, Buffer.from([0]), signature),
  );
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE REQUEST-----', ...lines, '-----END CERTIFICATE REQUEST-----', ''].join(
    '\n',
  );
}

function nameOf({ commonName, organizations, organizationalUnits }: ClientSubject): Buffer {
  return writeDer(
    DER_TAG.sequence,
    ...organizations.map((name) => attribute(OID.organization, name)),
    ...organizationalUnits.map((name) => attribute(OID.organizationalUnit, name)),
    attribute(OID.commonName, commonName),
  );
}

function attribute(id: Buffer, text: string): Buffer {
  const value = writeDer(DER_TAG.utf8String, Buffer.from(text));
  return writeDer(DER_TAG.set, writeDer(DER_TAG.sequence, writeDer(DER_TAG.objectId, id), value));
}

/** The attribute with the subject alternative names. */
function extensionsOf(dnsNames: readonly string[]): Buffer {
  const names = writeDer(DER_TAG.sequence, ...dnsNames.map((name) => writeDer(DNS_NAME, Buffer.from(name))));
  const extension = writeDer(
    DER_TAG.sequence,
    writeDer(DER_TAG.objectId, OID.subjectAltName),
    writeDer(DER_TAG.octetString, names),
  );
  return writeDer(
    DER_TAG.sequence,
    writeDer(DER_TAG.objectId, OID.extensions),
    writeDer(DER_TAG.set, writeDer(DER_TAG.sequence, extension)),
  );
}
