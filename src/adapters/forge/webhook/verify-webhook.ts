import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { headerOf } from '../event/webhook-event.ts';
import type { WebhookHeaders, WebhookProvider } from '../event/webhook-event.ts';

export interface WebhookSecrets {
  /** Any of them counts, so that a secret can be changed on both ends one after the other. */
  readonly secrets: readonly string[];
  /** Azure DevOps sends basic authentication: the user name that goes with the secrets; absent: any. */
  readonly username?: string | undefined;
  /** Generic webhooks: the header that carries `sha256=<hex>`. */
  readonly signatureHeader?: string | undefined;
}

export const DEFAULT_SIGNATURE_HEADER = 'x-signature-256';
/** How old a signed timestamp may be. */
const MAX_AGE_MS = 5 * 60_000;

/** Whether the request comes from somebody who knows a secret. Compares in constant time, over the bytes as they came. */
export function verifyWebhook(
  provider: WebhookProvider,
  request: { readonly headers: WebhookHeaders; readonly body: Buffer; readonly nowMs: number },
  config: WebhookSecrets,
): boolean {
  // An empty secret would make everybody authentic.
  const secrets = config.secrets.filter((secret) => secret !== '');
  const { username, signatureHeader } = config;
  return secrets.some((secret) => verifyOne(provider, request, { username, signatureHeader, secret }));
}

function verifyOne(
  provider: WebhookProvider,
  {
    headers,
    body,
    nowMs,
  }: { readonly headers: WebhookHeaders; readonly body: Buffer; readonly nowMs: number },
  { secret, username, signatureHeader }: Omit<WebhookSecrets, 'secrets'> & { readonly secret: string },
): boolean {
  const signed = (name: string): boolean => equal(headerOf(headers, name), `sha256=${hmacHex(secret, body)}`);
  switch (provider) {
    case 'github':
      return signed('x-hub-signature-256');
    case 'bitbucket':
      return signed('x-hub-signature');
    case 'generic':
      return signed((signatureHeader ?? DEFAULT_SIGNATURE_HEADER).toLowerCase());
    case 'gitea': {
      const bare = headerOf(headers, 'x-forgejo-signature') ?? headerOf(headers, 'x-gitea-signature');
      return bare === undefined ? signed('x-hub-signature-256') : equal(bare, hmacHex(secret, body));
    }
    case 'gitlab':
      return headerOf(headers, 'webhook-signature') === undefined
        ? equal(headerOf(headers, 'x-gitlab-token'), secret)
        : verifyStandardWebhook(headers, body, secret, nowMs);
    case 'azure-devops': {
      const [, encoded = ''] = /^Basic +(\S+)$/i.exec(headerOf(headers, 'authorization') ?? '') ?? [];
      const got = Buffer.from(encoded, 'base64').toString('utf8');
      const colon = got.indexOf(':');
      const userFits = username === undefined || got.slice(0, Math.max(colon, 0)) === username;
      return equal(colon === -1 ? undefined : got.slice(colon + 1), secret) && userFits;
    }
  }
}

/** Standard Webhooks: `v1,<base64>` over id, timestamp and body; several signatures are separated by blanks. */
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
    .some((signature) => equal(signature, `v1,${mac}`));
}

function hmacHex(secret: string, body: Buffer): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** Compares hashes of both, so that neither content nor length shows in the time. */
function equal(got: string | undefined, want: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(got ?? ''), hash(want)) && got !== undefined;
}
