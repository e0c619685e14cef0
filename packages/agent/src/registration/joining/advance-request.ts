import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import type { Reflector } from '@berth/kube/cache/reflector';
import type { ClientPair } from '@berth/kube/config/rotating-kube-config';
import { CERTIFICATE_REQUEST } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import { DER_TAG, writeDer } from '@berth/kube/x509/der';
import { addonNames } from '@berth/ocm/registration/addon-names';
import { ADDON_NAME_LABEL, CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';
import { nextRequestStep, type RequestStep } from '../../rules/registration/next-request-step.ts';
import { type ClientSubject, isOf } from '../../rules/registration/plan-certificate.ts';
import { readCertificate } from '../credentials/read-credentials.ts';
import type { RegistrationSettings } from '../options/registration-settings.ts';

/** A certificate of a cluster, or of one of its add-ons. */
export interface WantedCertificate {
  readonly cluster: string;
  /** Undefined: the certificate is for the cluster itself. */
  readonly addon?: string | undefined;
  readonly signerName: string;
  readonly subject: ClientSubject;
}

/** Keeps the key of an open request, so that an agent that crashes at any moment continues with the same request. */
export interface OpenRequest {
  /** Undefined if there is none for this certificate. */
  read(): Promise<OwnRequest | undefined>;
  write(request: OwnRequest): Promise<void>;
}

export interface RequestParts {
  /** The client of the hub. */
  readonly api: KubeApi;
  /** Follows the certificate requests of the cluster. It must be synced. */
  readonly requests: Reflector;
  readonly wanted: WantedCertificate;
  readonly open: OpenRequest;
  readonly settings: Pick<RegistrationSettings, 'expirationSeconds' | 'log'>;
}

/** Where a request stands. After `refused` the caller waits, and then calls `renewRequest`. */
export type RequestProgress =
  | Extract<RequestStep, { readonly kind: 'wait' | 'crowded' | 'refused' }>
  | { readonly kind: 'created' }
  /** The certificate is not stored yet. */
  | { readonly kind: 'issued'; readonly pair: ClientPair };

/** The selector of the certificate requests of a cluster and its add-ons. */
export function requestsOf(cluster: string): string {
  return `${CLUSTER_NAME_LABEL}=${cluster}`;
}

/**
 * Makes the next step for a certificate, and makes the same step again after a crash: the key is stored before the hub
 * receives the request, and the request is found by its content.
 * Source: open-cluster-management.io/ocm `pkg/registration/register/csr/csr.go`.
 */
export async function advanceRequest(parts: RequestParts, signal: AbortSignal): Promise<RequestProgress> {
  const { wanted, open, requests } = parts;
  const known = await open.read();
  const own = known ?? (await renewRequest(parts));
  const sent = base64(own.requestPem);
  let step = nextRequestStep(requests.store.list(), sent, wanted.addon);
  if (step.kind === 'create' && known !== undefined) {
    // Listed again: an earlier attempt may have created the request although its response was lost.
    await requests.relist(signal);
    if (signal.aborted) return { kind: 'wait', name: '' };
    step = nextRequestStep(requests.store.list(), sent, wanted.addon);
  }
  switch (step.kind) {
    case 'create':
      await createRequest(parts, sent);
      return { kind: 'created' };
    case 'issued': {
      const pair = pairOf(wanted.subject, own, step.certificate);
      if (pair !== undefined) return { kind: 'issued', pair };
      return { kind: 'refused', name: step.name, why: 'its certificate is not the requested one' };
    }
    default:
      return step;
  }
}

/** Makes and stores a new key with its request, for example after a refused one. */
export async function renewRequest({
  wanted,
  open,
}: Pick<RequestParts, 'wanted' | 'open'>): Promise<OwnRequest> {
  const { subject, addon } = wanted;
  const dnsNames = addon === undefined ? [] : [addonNames(addon, wanted.cluster).dnsName];
  const request = makeRequest({ subject, dnsNames });
  await open.write(request);
  return request;
}

async function createRequest({ api, requests, wanted, settings }: RequestParts, sent: string): Promise<void> {
  const { cluster, addon, signerName } = wanted;
  const metadata = {
    generateName: addon === undefined ? `${cluster}-` : `addon-${cluster}-${addon}-`,
    labels: { [CLUSTER_NAME_LABEL]: cluster, ...(addon !== undefined && { [ADDON_NAME_LABEL]: addon }) },
  };
  const object: KubeObject = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: metadata as unknown as ObjectMeta,
    spec: {
      request: sent,
      signerName,
      usages: ['digital signature', 'key encipherment', 'client auth'],
      ...(settings.expirationSeconds !== undefined && { expirationSeconds: settings.expirationSeconds }),
    },
  };
  const created = await api.create(CERTIFICATE_REQUEST, object);
  requests.putWritten(created);
  const fields = { cluster, ...(addon !== undefined && { addon }), request: created.metadata.name };
  settings.log.info('certificate requested', fields);
}

function pairOf(subject: ClientSubject, { keyPem }: OwnRequest, certificate: string): ClientPair | undefined {
  const certPem = Buffer.from(certificate, 'base64').toString('utf8');
  const held = readCertificate(certPem, keyPem);
  return held !== undefined && isOf(subject, held) ? { certPem, keyPem } : undefined;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** A key that is never sent to the hub, and the certificate request that was created with it. Both are PEM. */
export interface OwnRequest {
  readonly keyPem: string;
  readonly requestPem: string;
}

/** What a request asks for. */
interface RequestContent {
  readonly subject: ClientSubject;
  /** Subject alternative names. */
  readonly dnsNames: readonly string[];
}

/** Creates a new P-256 key, and a PKCS#10 request (RFC 2986) for a client certificate. */
function makeRequest(content: RequestContent): OwnRequest {
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
