import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
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

/** Whether the sender of the request knows a secret. Compares in constant time, and verifies the bytes as they arrived. */
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

function verifyWithSecret(
  provider: WebhookProvider,
  {
    headers,
    body,
    nowMs,
  }: { readonly headers: WebhookHeaders; readonly body: Buffer; readonly nowMs: number },
  { secret, username, signatureHeader }: Omit<WebhookSecrets, 'secrets'> & { readonly secret: string },
): boolean {
  const signed = (name: string): boolean =>
    isEqual(headerOf(headers, name), `sha256=${hmacHex(secret, body)}`);
  switch (provider) {
    case 'github':
      return signed('x-hub-signature-256');
    case 'bitbucket':
      return signed('x-hub-signature');
    case 'generic':
      return signed((signatureHeader ?? DEFAULT_SIGNATURE_HEADER).toLowerCase());
    case 'gitea': {
      const bare = headerOf(headers, 'x-forgejo-signature') ?? headerOf(headers, 'x-gitea-signature');
      return bare === undefined ? signed('x-hub-signature-256') : isEqual(bare, hmacHex(secret, body));
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

function hmacHex(secret: string, body: Buffer): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** Compares hashes, so that the time reveals neither content nor length. */
function isEqual(got: string | undefined, want: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(got ?? ''), hash(want)) && got !== undefined;
}
