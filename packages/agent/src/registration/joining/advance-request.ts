import type { Reflector } from '@berth/kube/cache/reflector';
import type { ClientPair } from '@berth/kube/config/rotating-kube-config';
import { CERTIFICATE_REQUEST } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import { addonNames } from '@berth/ocm/registration/addon-names';
import { ADDON_NAME_LABEL, CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';
import { nextRequestStep, type RequestStep } from '../../rules/registration/next-request-step.ts';
import { type ClientSubject, isOf } from '../../rules/registration/plan-certificate.ts';
import { readCertificate } from '../credentials/read-credentials.ts';
import type { RegistrationSettings } from '../options/registration-settings.ts';
import { makeRequest, type OwnRequest } from './make-request.ts';

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
