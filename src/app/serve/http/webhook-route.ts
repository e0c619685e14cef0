import type { WebhookProvider, WebhookHeaders } from '@berth/forge/event/webhook-event';
import { concernsRepository } from '@berth/forge/request/repository-url';
import type { WebhookSecrets } from '@berth/forge/webhook/verify-webhook';
import {
  RECEIVED,
  type UsedEvent,
  type WebhookAnswer,
  webhookHandler,
  type WebhookDelivery,
} from '@berth/forge/webhook/webhook-handler';
import type { Clock } from '@berth/runtime/clock/clock';
import { InputError } from '@berth/runtime/errors';
import { SecretFile } from '@berth/runtime/files/secret-file';
import type { Logger } from '@berth/runtime/logger';
import { printable } from '@berth/runtime/text/printable';
import type { RequestHandler } from 'express';
import type { RepositoryLoop } from '../../../controllers/sources/following/repository-loop.ts';
import type { ControllerHttpOptions } from './controller-http-options.ts';

/**
 * A push to a followed repository makes its sources fetch now. Polling covers lost deliveries. Pull requests concern the
 * leader alone: a standby forwards them.
 */
export function webhookRoute({
  options,
  loops,
  previews,
  leadership,
}: ControllerHttpOptions): RequestHandler {
  const files = Object.entries(options.http?.webhookSecretFiles ?? {});
  const toLeader = forwardToLeader(options.http?.peers ?? []);
  const handle = webhookHandler({
    providers: Object.fromEntries(
      files.map(([provider, file]) => [provider, rotatingSecrets(file, options)]),
    ),
    nowMs: () => options.clock.now(),
    log: options.log,
    onEvent: (event, delivery) => {
      if (event.kind === 'push') return fetchFor(event, delivery.provider, loops);
      if (previews === undefined) return { ...RECEIVED, message: 'received, no source plans pull requests' };
      if (!leadership.isHeld) return toLeader(delivery);
      return previews.take(event) ? RECEIVED : unfollowed(event, 'no source plans its pull requests');
    },
  });
  return (request, response, next) => void handle(request, response).catch(next);
}

function fetchFor(
  event: PushEvent,
  provider: WebhookProvider,
  loops: readonly RepositoryLoop[],
): WebhookAnswer {
  // Only the generic webhook means all sources if it names no repository.
  const isForAll = provider === 'generic' && event.repositoryUrls.length === 0;
  const following = isForAll ? loops : loops.filter(({ url }) => concernsRepository(event, url));
  if (following.length === 0) return unfollowed(event, 'no source follows it');
  const { ref } = event;
  // A name that is not a full ref may be a branch or a tag.
  const concerned =
    ref?.startsWith('refs/') === true ? following.filter((loop) => loop.concerns(ref)) : following;
  if (concerned.length === 0)
    return { ...RECEIVED, message: `received, no source follows ${shown(ref ?? '')}` };
  for (const loop of concerned) loop.fetch();
  return RECEIVED;
}

/** Names the repository as the forge does, to compare it with the URL of the source. */
function unfollowed(event: UsedEvent, why: string): WebhookAnswer {
  const name = event.repositoryUrls[0] ?? event.repositoryName;
  return {
    ...RECEIVED,
    message: `received, ${why}: ${name === undefined ? 'it names no repository' : shown(name)}`,
  };
}

const MAX_SHOWN_LENGTH = 200;

function shown(text: string): string {
  return printable(text.slice(0, MAX_SHOWN_LENGTH));
}

type PushEvent = UsedEvent & { readonly kind: 'push' };

/**
 * The file is read again at most every second. A secret that was removed from the file is refused, and all are refused
 * while the file is missing, empty or invalid.
 */
function rotatingSecrets(
  file: string,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): WebhookSecrets {
  const kept = new SecretFile({
    file,
    what: 'webhook secrets',
    without: 'no delivery is accepted',
    parse: (text) => secretsOf(file, text),
    log,
  });
  if (kept.problem !== undefined) throw kept.problem;
  return {
    get secrets() {
      return kept.current(clock.now()) ?? [];
    },
  };
}

function secretsOf(file: string, text: string): readonly string[] {
  const secrets = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (secrets.length > 0) return secrets;
  throw new InputError('is empty, expected one webhook secret per line', {
    code: 'serve.webhook-secret',
    subject: `Webhook secrets ${file}`,
  });
}

const RETRY_AFTER_SECONDS = '10';
/** Header of a forwarded delivery, which is not forwarded again. Controllers of other versions read it. */
const FORWARDED_HEADER = 'x-berth-handed-on';

/**
 * Handles authentic deliveries that only the leader can process, in a standby: forwards them
 * unchanged, with their signatures, to the other controllers until one accepts. If none does, the
 * response is 503, so that the forge shows it as failed, or sends it again. Nothing is stored here.
 * @param peers base URLs of the other controllers
 */
function forwardToLeader(peers: readonly string[]): (delivery: WebhookDelivery) => Promise<WebhookAnswer> {
  return async ({ provider, headers, body }) => {
    const isForwarded = headers[FORWARDED_HEADER] !== undefined;
    for (const peer of isForwarded ? [] : peers)
      if (await isAcceptedBy(`${peer.replace(/\/+$/, '')}/webhooks/${provider}`, headers, body))
        return { status: 202, message: 'forwarded to the leader' };
    return {
      status: 503,
      message: 'this replica is a standby, and it cannot reach the leader',
      headers: { 'retry-after': RETRY_AFTER_SECONDS },
    };
  };
}

/** Per controller. A forge waits ten seconds for a response. */
const FORWARD_TIMEOUT_MS = 4_000;

/** Forwarded in addition to headers that begin with `x-`. */
const FORWARDED_HEADERS = new Set([
  'content-type',
  'authorization',
  'idempotency-key',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]);

/** Sends a delivery to another controller. One that cannot be reached does not accept it. */
async function isAcceptedBy(url: string, received: WebhookHeaders, body: Buffer): Promise<boolean> {
  const headers = Object.entries(received).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' && (entry[0].startsWith('x-') || FORWARDED_HEADERS.has(entry[0])),
  );
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...Object.fromEntries(headers), [FORWARDED_HEADER]: 'true' },
      body: new Uint8Array(body),
      redirect: 'error',
      signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
