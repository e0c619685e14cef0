import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { agentGroups, type AgentIdentity, agentUser } from '@berth/ocm/registration/agent-identity';
import { DER_TAG, writeDer } from '@berth/kube/x509/der';

/** A key that never leaves this machine, and the certificate request that was created with it. Both are PEM. */
export interface OwnRequest {
  readonly keyPem: string;
  readonly requestPem: string;
}

const OID = {
  commonName: Buffer.from('550403', 'hex'),
  organization: Buffer.from('55040a', 'hex'),
  ecdsaWithSha256: Buffer.from('2a8648ce3d040302', 'hex'),
};

/** Creates a new P-256 key, and a PKCS#10 request (RFC 2986) for the certificate of an agent. */
export function makeRequest(identity: AgentIdentity): OwnRequest {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyPem = privateKey.export({ type: 'sec1', format: 'pem' }) as string;
  return { keyPem, requestPem: requestFor(identity, keyPem) };
}

function requestFor(identity: AgentIdentity, keyPem: string): string {
  const key = createPrivateKey(keyPem);
  const info = writeDer(
    DER_TAG.sequence,
    writeDer(DER_TAG.integer, Buffer.from([0])),
    nameOf(identity),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    writeDer(DER_TAG.context0),
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

function nameOf(identity: AgentIdentity): Buffer {
  const groups = agentGroups(identity.cluster).map((group) => attribute(OID.organization, group));
  return writeDer(DER_TAG.sequence, ...groups, attribute(OID.commonName, agentUser(identity)));
}

function attribute(id: Buffer, text: string): Buffer {
  const value = writeDer(DER_TAG.utf8String, Buffer.from(text));
  return writeDer(DER_TAG.set, writeDer(DER_TAG.sequence, writeDer(DER_TAG.objectId, id), value));
}
