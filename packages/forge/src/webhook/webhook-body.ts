import { headerOf } from '../event/webhook-event.ts';
import type { WebhookHeaders, WebhookProvider } from '../event/webhook-event.ts';
import { ResponseFields } from '../request/response-fields.ts';

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
export function formPayload(
  provider: WebhookProvider,
  headers: WebhookHeaders,
  body: Buffer,
): string | undefined {
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
