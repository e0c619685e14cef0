import { expect } from 'vitest';
import type { LooseJson } from '../../packages/embedded-hub/test/loose-json.ts';
import type { Reply, TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';

export const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

/** Where to ask, and what beside the request itself. */
export interface Asked {
  /** '' is the hub, else `/clusters/NAME`. */
  readonly at?: string;
  readonly token?: string;
  readonly usages?: readonly string[];
  readonly signerName?: string;
  readonly expirationSeconds?: number;
}

let count = 0;

/** Sends a request; the administrator approves it. Nothing of it is expected to work. */
export async function askAndApprove(hub: TestHub, pem: string, asked: Asked = {}): Promise<Outcome> {
  const made = await ask(hub, pem, asked);
  if (made.status !== 201) return { refused: made, csr: undefined };
  const path = `${asked.at ?? ''}${CSRS}/${made.body.metadata.name}`;
  const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'fine' };
  const approval = await hub.call('PUT', `${path}/approval`, {
    body: { ...made.body, status: { conditions: [condition] } },
  });
  expect(approval.status).toBe(200);
  await expect.poll(async () => isSettled((await hub.call('GET', path)).body)).toBe(true);
  return { refused: undefined, csr: (await hub.call('GET', path)).body };
}

export interface Outcome {
  /** The answer to the creation, when that failed already. */
  readonly refused: Reply | undefined;
  /** The request after the signer saw it. */
  readonly csr: LooseJson;
}

export function ask(hub: TestHub, pem: string, asked: Asked = {}): Promise<Reply> {
  const { at = '', usages = ['client auth'], signerName = CLIENT_SIGNER, expirationSeconds, token } = asked;
  count += 1;
  const body = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: `request-${String(count)}` },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName,
      usages,
      ...(expirationSeconds !== undefined && { expirationSeconds }),
    },
  };
  return hub.call('POST', `${at}${CSRS}`, { body, ...(token !== undefined && { token }) });
}

/** The certificate, PEM, or undefined when there is none. */
export function certificateOf({ csr }: Outcome): string | undefined {
  const text = csr?.status?.certificate as string | undefined;
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString();
}

/** The message of the condition Failed, or of the refusal; '' when the request was signed. */
export function failureOf({ refused, csr }: Outcome): string {
  if (refused !== undefined) return `${String(refused.status)}: ${refused.body.message as string}`;
  const failed = conditionsOf(csr).find((one) => one.type === 'Failed');
  return failed === undefined ? '' : `${failed.reason}: ${failed.message}`;
}

/** Whom a cluster takes the holder of the certificate for; the code of the answer when for nobody. */
export async function whoami(
  hub: TestHub,
  credentials: { readonly cert: string; readonly key: string },
  at = '',
): Promise<unknown> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = `${at}/apis/authentication.k8s.io/v1/selfsubjectreviews`;
  const reply = await hub.call('POST', path, { token: null, ...credentials, body });
  return reply.status === 201 ? reply.body.status.userInfo : reply.status;
}

interface Condition {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

function conditionsOf(csr: LooseJson): readonly Condition[] {
  return (csr.status?.conditions ?? []) as readonly Condition[];
}

function isSettled(csr: LooseJson): boolean {
  return csr.status?.certificate !== undefined || conditionsOf(csr).some((one) => one.type === 'Failed');
}
