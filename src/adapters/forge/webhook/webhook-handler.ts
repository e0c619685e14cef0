import type { IncomingMessage, ServerResponse } from 'node:http';
import { deliveryId } from './delivery-id.ts';
import { parseWebhook } from './parse-webhook.ts';
import { verifyWebhook } from './verify-webhook.ts';
import type { WebhookSecrets } from './verify-webhook.ts';
import { WEBHOOK_PROVIDERS } from '../event/webhook-event.ts';
import type { WebhookEvent, WebhookHeaders, WebhookProvider } from '../event/webhook-event.ts';

export interface WebhookHandlerOptions {
  /** Requests for other providers get 404. */
  readonly providers: Readonly<Partial<Record<WebhookProvider, WebhookSecrets>>>;
  readonly nowMs: () => number;
  /** Called once per delivery. It must return at once, for example after it enqueued a key. */
  readonly onEvent: (event: WebhookEvent, provider: WebhookProvider) => void;
  readonly maxBodyBytes?: number | undefined;
}

const DEFAULT_MAX_BODY_BYTES = 5 * 1024 * 1024;
/** The number of bodies that are read, and held in memory, at the same time. Their senders have not shown a secret yet. */
const MAX_READING = 16;
const REMEMBERED_DELIVERIES = 1_000;

/**
 * Answers `POST …/<provider>` (github, gitlab, gitea, bitbucket, azure-devops, generic) on node:http or under express.
 * The size of the body is limited while it arrives, then its bytes are verified, and only then it is parsed. A repeated
 * delivery counts once.
 */
export function webhookHandler(
  options: WebhookHandlerOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const seen = new Set<string>();
  const reading = new Set<IncomingMessage>();
  return async (request, response) => {
    const provider = providerOf(request.url ?? '');
    const config = provider === undefined ? undefined : options.providers[provider];
    if (provider === undefined || config === undefined) return respond(response, 404, 'no such webhook');
    if (request.method !== 'POST') return respond(response, 405, 'expected POST');
    dropSlowestRequest(reading);
    reading.add(request);
    const body = await readBody(request, options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES).finally(() =>
      reading.delete(request),
    );
    if (body === undefined) return respond(response, 413, 'body too large');
    const headers = request.headers as WebhookHeaders;
    if (!verifyWebhook(provider, { headers, body, nowMs: options.nowMs() }, config))
      return respond(response, 401, 'signature missing or wrong');
    const event = parseWebhook(provider, headers, body);
    if (event === undefined) return respond(response, 400, `not a webhook of ${provider}`);
    if (isRepeated(seen, provider, deliveryId(provider, headers, body)))
      return respond(response, 200, 'already received');
    if (event.kind !== 'other') options.onEvent(event, provider);
    respond(response, 202, 'received');
  };
}

function providerOf(url: string): WebhookProvider | undefined {
  const last = url
    .split('?', 1)[0]
    ?.split('/')
    .filter((part) => part !== '')
    .at(-1);
  return WEBHOOK_PROVIDERS.find((provider) => provider === last);
}

/** The id of a delivery is not signed. A replayed body only causes another fetch. */
function isRepeated(seen: Set<string>, provider: WebhookProvider, id: string | undefined): boolean {
  if (id === undefined) return false;
  const key = `${provider} ${id}`;
  if (seen.has(key)) return true;
  seen.add(key);
  const [oldest] = seen;
  if (seen.size > REMEMBERED_DELIVERIES && oldest !== undefined) seen.delete(oldest);
  return false;
}

/**
 * Drops the oldest request if too many are being read. A normal delivery takes a moment, so the oldest is the slowest.
 * If it was authentic, polling finds the same change later.
 */
function dropSlowestRequest(reading: Set<IncomingMessage>): void {
  const [oldest] = reading;
  if (reading.size < MAX_READING || oldest === undefined) return;
  reading.delete(oldest);
  oldest.destroy();
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  // The connection must stay open until the response is sent, so the loop must not destroy the request.
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function respond(response: ServerResponse, status: number, message: string): void {
  // The rest of a refused body is not read, so the connection is closed after the response.
  if (status === 413) response.setHeader('connection', 'close');
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify({ message })}\n`);
}
