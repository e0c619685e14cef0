import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { formPayload } from './webhook-body.ts';
import { headerOf } from '../event/webhook-event.ts';
import type { WebhookHeaders, WebhookProvider } from '../event/webhook-event.ts';

export interface WebhookSecrets {
  /** Any of them is accepted, so that a secret can be replaced at one end and then at the other. */
  readonly secrets: readonly string[];
  /** Azure DevOps uses basic authentication: the user name that belongs to the secrets. Absent: any name. */
  readonly username?: string | undefined;
  /** Generic webhooks: the header with `sha256=<hex>`. */
  readonly signatureHeader?: string | undefined;
}

export const DEFAULT_SIGNATURE_HEADER = 'x-signature-256';
/** The maximum age of a signed timestamp. */
const MAX_AGE_MS = 5 * 60_000;

/**
 * Whether the sender of the request knows a secret. Compares in constant time, and verifies the bytes as they arrived;
 * Gitea and Forgejo sign the JSON text, also of a form.
 */
export function verifyWebhook(
  provider: WebhookProvider,
  request: { readonly headers: WebhookHeaders; readonly body: Buffer; readonly nowMs: number },
  config: WebhookSecrets,
): boolean {
  // With an empty secret, every request would be authentic.
  const secrets = config.secrets.filter((secret) => secret !== '');
  const { username, signatureHeader } = config;
  return secrets.some((secret) => verifyWithSecret(provider, request, { username, signatureHeader, secret }));
}

/** The headers in which a forge proves that it knows the secret, in the spelling of its documentation. */
function proofHeaders(provider: WebhookProvider, { signatureHeader }: WebhookSecrets): readonly string[] {
  switch (provider) {
    case 'github':
      return ['X-Hub-Signature-256'];
    case 'bitbucket':
      return ['X-Hub-Signature'];
    case 'generic':
      return [signatureHeader ?? DEFAULT_SIGNATURE_HEADER];
    case 'gitea':
      return ['X-Forgejo-Signature', 'X-Gitea-Signature', 'X-Hub-Signature-256'];
    case 'gitlab':
      return ['X-Gitlab-Token', 'Webhook-Signature'];
    case 'azure-devops':
      return ['Authorization'];
  }
}

/** Why a request is not authentic, for the one who set up the webhook. */
export function refusalOf(
  provider: WebhookProvider,
  headers: WebhookHeaders,
  config: WebhookSecrets,
): string {
  const names = proofHeaders(provider, config);
  // Gitea and Forgejo send an empty signature for a webhook without a secret.
  const isProven = names.some((name) => (headerOf(headers, name.toLowerCase()) ?? '') !== '');
  return isProven
    ? `the secret is wrong: ${names.join(' or ')} fits none of the secrets in Berth's file`
    : `the secret is missing: set it in the settings of the webhook, so that the forge sends ${names.join(' or ')}`;
}

function verifyWithSecret(
  provider: WebhookProvider,
  {
    headers,
    body,
    nowMs,
  }: { readonly headers: WebhookHeaders; readonly body: Buffer; readonly nowMs: number },
  { secret, username, signatureHeader }: Omit<WebhookSecrets, 'secrets'> & { readonly secret: string },
): boolean {
  const signed = (name: string, text: Buffer | string = body): boolean =>
    isEqual(headerOf(headers, name), `sha256=${hmacHex(secret, text)}`);
  switch (provider) {
    case 'github':
      return signed('x-hub-signature-256');
    case 'bitbucket':
      return signed('x-hub-signature');
    case 'generic':
      return signed((signatureHeader ?? DEFAULT_SIGNATURE_HEADER).toLowerCase());
    case 'gitea': {
      const bare = headerOf(headers, 'x-forgejo-signature') ?? headerOf(headers, 'x-gitea-signature');
      const texts = [body, formPayload(provider, headers, body) ?? body];
      return texts.some((text) =>
        bare === undefined ? signed('x-hub-signature-256', text) : isEqual(bare, hmacHex(secret, text)),
      );
    }
    case 'gitlab':
      return headerOf(headers, 'webhook-signature') === undefined
        ? isEqual(headerOf(headers, 'x-gitlab-token'), secret)
        : verifyStandardWebhook(headers, body, secret, nowMs);
    case 'azure-devops': {
      const [, encoded = ''] = /^Basic +(\S+)$/i.exec(headerOf(headers, 'authorization') ?? '') ?? [];
      const got = Buffer.from(encoded, 'base64').toString('utf8');
      const colon = got.indexOf(':');
      const isUserAccepted = username === undefined || got.slice(0, Math.max(colon, 0)) === username;
      return isEqual(colon === -1 ? undefined : got.slice(colon + 1), secret) && isUserAccepted;
    }
  }
}

/** Standard Webhooks: `v1,<base64>` over id, timestamp and body. Several signatures are separated by spaces. */
function verifyStandardWebhook(
  headers: WebhookHeaders,
  body: Buffer,
  secret: string,
  nowMs: number,
): boolean {
  const id = headerOf(headers, 'webhook-id') ?? '';
  const timestamp = headerOf(headers, 'webhook-timestamp') ?? '';
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowMs - Number(timestamp) * 1000) > MAX_AGE_MS) return false;
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return (headerOf(headers, 'webhook-signature') ?? '')
    .split(' ')
    .some((signature) => isEqual(signature, `v1,${mac}`));
}

function hmacHex(secret: string, body: Buffer | string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** Compares hashes, so that the time reveals neither content nor length. */
function isEqual(got: string | undefined, want: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(got ?? ''), hash(want)) && got !== undefined;
}
