import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { headerOf, type WebhookHeaders, type WebhookProvider } from '../event/webhook-event.ts';
import { ResponseFields } from '../request/response-fields.ts';

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

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** These forges offer both types. GitHub preselects the form. */
const FORM_PROVIDERS: ReadonlySet<WebhookProvider> = new Set(['github', 'gitea']);

/** An authentic delivery from which no event can be read. The message says what to change at the forge. */
export interface NotUnderstood {
  readonly kind: 'not-understood';
  readonly status: 400 | 415;
  readonly message: string;
}

/** The JSON text in the field `payload` of a form. Undefined if the body is not such a form. */
function formPayload(provider: WebhookProvider, headers: WebhookHeaders, body: Buffer): string | undefined {
  if (!FORM_PROVIDERS.has(provider) || mediaType(headers) !== FORM_TYPE) return undefined;
  return new URLSearchParams(body.toString('utf8')).get('payload') ?? undefined;
}

/** The JSON object of a delivery. The content type counts only where the body is not JSON. */
export function webhookPayload(
  provider: WebhookProvider,
  headers: WebhookHeaders,
  body: Buffer,
): ResponseFields | NotUnderstood {
  const text = formPayload(provider, headers, body) ?? body.toString('utf8');
  const payload = text === '' ? new ResponseFields({}) : parseObject(text);
  if (payload !== undefined) return payload;
  const type = mediaType(headers);
  const expected = FORM_PROVIDERS.has(provider) ? [JSON_TYPE, FORM_TYPE] : [JSON_TYPE];
  if (type !== undefined && expected.includes(type)) {
    const what = type === FORM_TYPE ? 'the field payload of the form' : 'the body';
    return { kind: 'not-understood', status: 400, message: `${what} is not a JSON object` };
  }
  const got = type === undefined ? 'no content type' : `the content type ${type}`;
  const message = `got ${got}, expected ${expected.join(' or ')}: set it in the settings of the webhook`;
  return { kind: 'not-understood', status: 415, message };
}

function mediaType(headers: WebhookHeaders): string | undefined {
  const type = headerOf(headers, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  return type === '' ? undefined : type;
}

function parseObject(text: string): ResponseFields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? new ResponseFields(value)
      : undefined;
  } catch {
    return undefined;
  }
}
