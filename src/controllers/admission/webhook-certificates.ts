import { createPrivateKey, X509Certificate } from 'node:crypto';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { apiVersionOf, SECRET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject, OwnerReference } from '@berth/kube/model/object-meta';
import { createAuthority, type PemPair } from '@berth/kube/x509/self-signed-authority';
import type { Clock } from '@berth/runtime/clock/clock';
import { InputError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import {
  type CertificateStep,
  planCertificates,
  SERVING_LIFETIME_MS,
  type CertificateFacts,
  type StoredCertificates,
} from '../../core/registration/webhooks/plan-certificates.ts';
import { isOwned } from './hub-webhooks.ts';
import { ADMISSION_NAME } from '../../core/registration/webhooks/webhook-configurations.ts';

const FIELD_MANAGER = ADMISSION_NAME;
/** Label of the Secret: Berth created it, and may write it. */
const OWN_LABEL = 'berth.dev/admission-certificate';

/** The key and the certificate of the webhooks, in PEM. */
export interface WebhookIdentity {
  readonly cert: string;
  readonly key: string;
  /** Authorities that the API server must trust. */
  readonly trusted: string;
}

export interface WebhookCertificatesOptions {
  readonly hub: KubeApi;
  /** Namespace of the Secret. */
  readonly namespace: string;
  /** Name or address by which the API server reaches the webhooks. */
  readonly host: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether this process is the one replica that may write. */
  readonly mayWrite: () => boolean;
}

/**
 * The authority of the webhooks and their serving certificate, in one Secret that all replicas use. The leader creates
 * and renews them. Each write has the version that was read as its precondition, so that the slower of two writers
 * reads again.
 */
export class WebhookCertificates {
  readonly #options: WebhookCertificatesOptions;

  constructor(options: WebhookCertificatesOptions) {
    this.#options = options;
  }

  /**
   * @param owner with which the Secret ends; undefined: it stays
   * @returns undefined until a usable certificate exists
   * @throws the errors of the hub; ConflictError when another process wrote first; InputError for a Secret that Berth
   *   did not create
   */
  async ensure(owner?: OwnerReference): Promise<WebhookIdentity | undefined> {
    return identityOf(await this.#ensureTexts(owner));
  }

  async #ensureTexts(owner: OwnerReference | undefined): Promise<CertificateTexts> {
    const { hub, namespace, host, clock, log, mayWrite } = this.#options;
    const secret = await hub.get(SECRET, { namespace, name: ADMISSION_NAME });
    if (secret !== undefined && secret.metadata.labels?.[OWN_LABEL] === undefined)
      throw new InputError(`is not Berth's: it has no label ${OWN_LABEL}`, {
        code: 'admission.foreign-secret',
        subject: `Secret ${namespace}/${ADMISSION_NAME}`,
        hint: 'delete it, and Berth will create another one',
      });
    let texts = secret === undefined ? {} : readCertificateTexts(secret);
    const steps: CertificateStep[] = [];
    for (;;) {
      const step = planCertificates(readUsableCertificates(texts, host), clock.now());
      if (step === undefined || !mayWrite()) break;
      texts = await takeStep(step, texts, host, clock.now());
      steps.push(step);
    }
    if (steps.length === 0 && (secret === undefined || isOwned(secret.metadata, owner) || !mayWrite()))
      return texts;
    await this.#write(secret, texts, owner);
    log.info('the certificate of the admission webhooks was written', {
      secret: `${namespace}/${ADMISSION_NAME}`,
      steps,
    });
    return texts;
  }

  async #write(
    secret: KubeObject | undefined,
    texts: CertificateTexts,
    owner: OwnerReference | undefined,
  ): Promise<void> {
    const { hub, namespace } = this.#options;
    const data = certificateData(texts);
    const options = { fieldManager: FIELD_MANAGER };
    const owned = owner && { ownerReferences: [owner] };
    if (secret !== undefined) {
      const metadata = { ...secret.metadata, ...owned };
      await hub.update(SECRET, { ...secret, metadata, data }, options);
      return;
    }
    await hub.create(
      SECRET,
      {
        apiVersion: apiVersionOf(SECRET),
        kind: SECRET.kind,
        metadata: { namespace, name: ADMISSION_NAME, labels: { [OWN_LABEL]: 'true' }, ...owned },
        type: 'Opaque',
        data,
      },
      options,
    );
  }
}

async function takeStep(
  step: CertificateStep,
  texts: CertificateTexts,
  host: string,
  nowMs: number,
): Promise<CertificateTexts> {
  switch (step) {
    case 'begin':
      return { authority: newAuthority(nowMs) };
    case 'announce':
      return { ...texts, next: newAuthority(nowMs) };
    case 'change-over':
      return { authority: texts.next, last: texts.authority?.certPem };
    case 'forget-last':
      return { ...texts, last: undefined };
    case 'issue': {
      if (texts.authority === undefined) return texts;
      const authority = await CertificateAuthority.load(texts.authority);
      const serving = await authority.issueServing([host], nowMs, SERVING_LIFETIME_MS, ADMISSION_NAME);
      return { ...texts, serving };
    }
  }
}

/** Each authority has a name of its own, different from the names of what it signs: clients find an issuer by its name. */
function newAuthority(nowMs: number): PemPair {
  return createAuthority(`${ADMISSION_NAME}-ca@${nowMs}`, nowMs);
}

function identityOf(texts: CertificateTexts): WebhookIdentity | undefined {
  if (texts.serving === undefined) return undefined;
  const { certPem: cert, keyPem: key } = texts.serving;
  return { cert, key, trusted: trustedAuthorities(texts) };
}

/** What the Secret contains, in PEM. A field that the Secret lacks is absent. */
interface CertificateTexts {
  readonly authority?: PemPair | undefined;
  readonly next?: PemPair | undefined;
  readonly last?: string | undefined;
  readonly serving?: PemPair | undefined;
}

/** Keys of the Secret. */
const KEYS = {
  authority: ['ca.crt', 'ca.key'],
  next: ['next-ca.crt', 'next-ca.key'],
  last: 'last-ca.crt',
  serving: ['tls.crt', 'tls.key'],
} as const;

function readCertificateTexts({ data = {} }: KubeObject & { data?: unknown }): CertificateTexts {
  const text = (key: string): string => {
    const value = (data as Readonly<Record<string, unknown>>)[key];
    return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
  };
  const pair = ([cert, key]: readonly [string, string]): PemPair | undefined =>
    text(cert) === '' || text(key) === '' ? undefined : { certPem: text(cert), keyPem: text(key) };
  return {
    authority: pair(KEYS.authority),
    next: pair(KEYS.next),
    last: text(KEYS.last) === '' ? undefined : text(KEYS.last),
    serving: pair(KEYS.serving),
  };
}

/** The `data` of the Secret. */
function certificateData({ authority, next, last, serving }: CertificateTexts): Record<string, string> {
  const entries: [string, string][] = [];
  const add = ([cert, key]: readonly [string, string], pair: PemPair | undefined): void => {
    if (pair !== undefined) entries.push([cert, pair.certPem], [key, pair.keyPem]);
  };
  add(KEYS.authority, authority);
  add(KEYS.next, next);
  add(KEYS.serving, serving);
  if (last !== undefined) entries.push([KEYS.last, last]);
  return Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
}

/** All authorities that clients must trust, in PEM. */
function trustedAuthorities({ authority, next, last }: CertificateTexts): string {
  return [authority?.certPem, next?.certPem, last].filter((pem) => pem !== undefined).join('');
}

/**
 * The facts of those certificates in the Secret that can be used.
 * @param host the name that the serving certificate must be valid for
 */
function readUsableCertificates(texts: CertificateTexts, host: string): StoredCertificates {
  const authority = usable(texts.authority);
  const serving = usable(texts.serving);
  return {
    authority: factsOf(authority),
    next: factsOf(usable(texts.next)),
    last: factsOf(parse(texts.last)),
    serving:
      authority !== undefined && serving?.verify(authority.publicKey) === true && isFor(serving, host)
        ? factsOf(serving)
        : undefined,
  };
}

function isFor(certificate: X509Certificate, host: string): boolean {
  return (certificate.checkHost(host, { subject: 'never' }) ?? certificate.checkIP(host)) !== undefined;
}

function usable(pair: PemPair | undefined): X509Certificate | undefined {
  const certificate = parse(pair?.certPem);
  try {
    if (pair === undefined || certificate?.checkPrivateKey(createPrivateKey(pair.keyPem)) !== true)
      return undefined;
    return certificate;
  } catch {
    // A key that cannot be parsed counts as missing: the caller then creates another pair.
    return undefined;
  }
}

function parse(pem: string | undefined): X509Certificate | undefined {
  if (pem === undefined) return undefined;
  try {
    return new X509Certificate(pem);
  } catch {
    // A certificate that cannot be parsed counts as missing, too.
    return undefined;
  }
}

function factsOf(certificate: X509Certificate | undefined): CertificateFacts | undefined {
  if (certificate === undefined) return undefined;
  return { fromMs: Date.parse(certificate.validFrom), untilMs: Date.parse(certificate.validTo) };
}
