import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '@berth/runtime/logger';
import { OncePerPeriod } from '@berth/runtime/loop/rate-limiter';
import { printable } from '@berth/runtime/text/printable';
import { parseAzure } from '../azure-devops/azure-webhook.ts';
import { parseBitbucket } from '../bitbucket/bitbucket-webhook.ts';
import {
  headerOf,
  WEBHOOK_PROVIDERS,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookProvider,
  commitId,
} from '../event/webhook-event.ts';
import { parseGitHubLike } from '../github-like/github-like-webhook.ts';
import { parseGitLab } from '../gitlab/gitlab-webhook.ts';
import { ResponseFields } from '../request/response-fields.ts';
import {
  type NotUnderstood,
  refusalOf,
  verifyWebhook,
  webhookPayload,
  type WebhookSecrets,
} from './verify-webhook.ts';

export interface WebhookHandlerOptions {
  /** Requests for other providers get 404. */
  readonly providers: Readonly<Partial<Record<WebhookProvider, WebhookSecrets>>>;
  readonly nowMs: () => number;
  /** Called once per delivery. It must not wait for what the event causes. */
  readonly onEvent: (event: UsedEvent, delivery: WebhookDelivery) => WebhookAnswer | Promise<WebhookAnswer>;
  readonly log: Logger;
  readonly maxBodyBytes?: number | undefined;
}

export type UsedEvent = Exclude<WebhookEvent, { readonly kind: 'other' }>;

/** A delivery as it arrived. */
export interface WebhookDelivery {
  readonly provider: WebhookProvider;
  readonly headers: WebhookHeaders;
  readonly body: Buffer;
}

/** The response. The pages of the forges show both fields. */
export interface WebhookAnswer {
  readonly status: number;
  /** What became of the delivery; for one without effect, why. */
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The delivery had an effect, so a repeated one has none. */
export const RECEIVED: WebhookAnswer = { status: 202, message: 'received' };

const DEFAULT_MAX_BODY_BYTES = 5 * 1024 * 1024;

/**
 * Answers `POST …/<provider>` (github, gitlab, gitea, bitbucket, azure-devops, generic) on node:http or under express.
 * The size of the body is limited while it arrives, then its bytes are verified, and only then it is parsed. A repeated
 * delivery counts once. The answer and the log say why a delivery has no effect.
 */
export function webhookHandler(
  options: WebhookHandlerOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const seen = new Set<string>();
  const reading = new Set<IncomingMessage>();
  const report = reporter(options);
  return async (request, response) => {
    const provider = providerOf(request.url ?? '');
    const config = provider === undefined ? undefined : options.providers[provider];
    const answer = async (): Promise<WebhookAnswer> => {
      if (provider === undefined) return { status: 404, message: 'no such webhook' };
      if (config === undefined) return notConfigured(provider);
      if (request.method !== 'POST') return notPosted(request.method ?? '');
      dropSlowestRequest(reading);
      reading.add(request);
      const maxBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
      const body = await readBody(request, maxBytes).finally(() => reading.delete(request));
      if (body === undefined)
        return { status: 413, message: `the body has more than ${maxBytes} bytes`, headers: CLOSE };
      const delivery = { provider, headers: request.headers as WebhookHeaders, body };
      return answerDelivery(options, delivery, config, seen);
    };
    const { status, message, headers } = report(provider, await answer());
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(`${JSON.stringify({ message })}\n`);
  };
}

/** The rest of a refused body is not read, so the connection is closed after the response. */
const CLOSE = { connection: 'close' };

function notConfigured(provider: WebhookProvider): WebhookAnswer {
  const message = `webhooks of ${provider} are not accepted: start berth serve with --webhook ${provider}=FILE`;
  return { status: 404, message };
}

/** Gitea and Forgejo can be set to GET. */
function notPosted(method: string): WebhookAnswer {
  const message = `got ${method}, expected POST: set it in the settings of the webhook`;
  return { status: 405, message, headers: { allow: 'POST' } };
}

async function answerDelivery(
  { nowMs, onEvent }: WebhookHandlerOptions,
  delivery: WebhookDelivery,
  config: WebhookSecrets,
  seen: Set<string>,
): Promise<WebhookAnswer> {
  const { provider, headers, body } = delivery;
  if (!verifyWebhook(provider, { headers, body, nowMs: nowMs() }, config))
    return isConnectionTest(delivery)
      ? { status: 200, message: 'the connection works; the test is not signed, so the secret is not checked' }
      : { status: 401, message: refusalOf(provider, headers, config) };
  const event = parseWebhook(provider, headers, body);
  if (event.kind === 'not-understood') return event;
  const key = deliveryKey(provider, headers, body);
  if (key !== undefined && seen.has(key)) return { status: 200, message: 'already received' };
  const answer =
    event.kind === 'other' ? { ...RECEIVED, message: notUsed(event.event) } : await onEvent(event, delivery);
  // What had no effect here may have one when it is sent again.
  if (answer === RECEIVED) remember(seen, key);
  return answer;
}

/** Of the name of an event, in an answer. */
const MAX_NAME_LENGTH = 100;

function notUsed(event: string): string {
  return `received, the event ${printable(event.slice(0, MAX_NAME_LENGTH))} is not used`;
}

/**
 * The button "Test connection" of Bitbucket Data Center sends `{"test": true}`, in most versions without a signature. The
 * answer tells nothing that an unsigned request may not know.
 */
function isConnectionTest({ provider, headers, body }: WebhookDelivery): boolean {
  if (provider !== 'bitbucket' || headerOf(headers, 'x-hub-signature') !== undefined) return false;
  if (headerOf(headers, 'x-event-key') === 'diagnostics:ping') return true;
  return body.length < 100 && body.toString('latin1').replaceAll(/\s/g, '') === '{"test":true}';
}

const REFUSAL_PERIOD_MS = 60_000;

/** Logs what had no effect. Anybody can send what is refused, so the same refusal is logged once a minute. */
function reporter({ log, nowMs }: WebhookHandlerOptions) {
  const due = new OncePerPeriod(nowMs, REFUSAL_PERIOD_MS);
  return (provider: WebhookProvider | undefined, answer: WebhookAnswer): WebhookAnswer => {
    const { status, message } = answer;
    if (status < 400) log.debug('webhook delivery', { provider, answer: message });
    else if (due.isDue(JSON.stringify([provider, status, message])))
      log.warn('webhook delivery was refused', { provider, status, why: message });
    return answer;
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

const REMEMBERED_DELIVERIES = 1_000;

function remember(seen: Set<string>, key: string | undefined): void {
  if (key === undefined) return;
  seen.add(key);
  const [oldest] = seen;
  if (seen.size > REMEMBERED_DELIVERIES && oldest !== undefined) seen.delete(oldest);
}

/** The number of bodies that are read, and held in memory, at the same time. Their senders have not shown a secret yet. */
const MAX_READING = 16;

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

/** Where each forge names the event of a delivery: one of these headers, or a field of the body. */
const EVENT_IN: Readonly<Record<WebhookProvider, string>> = {
  github: 'header X-GitHub-Event',
  gitea: 'header X-Forgejo-Event or X-Gitea-Event',
  gitlab: 'header X-Gitlab-Event',
  bitbucket: 'header X-Event-Key',
  'azure-devops': 'field eventType',
  generic: 'event',
};

/** Parses the body of an authentic webhook. */
export function parseWebhook(
  provider: WebhookProvider,
  headers: WebhookHeaders,
  body: Buffer,
): WebhookEvent | NotUnderstood {
  const payload = webhookPayload(provider, headers, body);
  if (!(payload instanceof ResponseFields)) return payload;
  const message = `it has no ${EVENT_IN[provider]}: this address expects webhooks of ${provider}`;
  return parseEvent(provider, headers, payload) ?? { kind: 'not-understood', status: 400, message };
}

function parseEvent(
  provider: WebhookProvider,
  headers: WebhookHeaders,
  payload: ResponseFields,
): WebhookEvent | undefined {
  switch (provider) {
    case 'github':
      return parseGitHubLike(payload, headerOf(headers, 'x-github-event'));
    case 'gitea':
      return parseGitHubLike(
        payload,
        headerOf(headers, 'x-forgejo-event') ?? headerOf(headers, 'x-gitea-event'),
      );
    case 'gitlab':
      return parseGitLab(payload, headerOf(headers, 'x-gitlab-event'));
    case 'bitbucket':
      return parseBitbucket(payload, headerOf(headers, 'x-event-key'));
    case 'azure-devops':
      return parseAzure(payload);
    case 'generic':
      return parseGeneric(payload);
  }
}

/**
 * `{"repository": URL, "ref": "refs/heads/main", "commit": id}`. All fields are optional: an empty body means "fetch
 * everything".
 */
function parseGeneric(payload: ResponseFields): WebhookEvent {
  return {
    kind: 'push',
    repositoryUrls: payload.texts(['repository']),
    ref: payload.text('ref'),
    commit: commitId(payload.text('commit')),
  };
}

/**
 * Text that all attempts of a delivery share, and no other delivery; undefined if the forge sends no id. The id is not
 * signed, and GitLab gives several deliveries of one push the same, so the body counts, too.
 * @param body authentic JSON
 */
function deliveryKey(provider: WebhookProvider, headers: WebhookHeaders, body: Buffer): string | undefined {
  const id = provider === 'azure-devops' ? idInBody(body) : idInHeaders(headers);
  if (id === undefined) return undefined;
  return JSON.stringify([provider, id, createHash('sha256').update(body).digest('hex')]);
}

const HEADERS = [
  'x-github-delivery',
  'x-gitea-delivery',
  // GitLab: the same for every attempt of a delivery, since 17.4. Older versions send only the uuid of the event.
  'idempotency-key',
  'x-gitlab-event-uuid',
  'x-request-uuid',
  'x-request-id',
  'webhook-id',
];

function idInHeaders(headers: WebhookHeaders): string | undefined {
  return HEADERS.map((name) => headerOf(headers, name)).find((value) => value !== undefined);
}

function idInBody(body: Buffer): string | undefined {
  const { id } = JSON.parse(body.toString('utf8')) as { readonly id?: unknown };
  return typeof id === 'string' ? id : undefined;
}
