import type { WebhookHeaders } from '@berth/forge/event/webhook-event';
import type { WebhookAnswer, WebhookDelivery } from '@berth/forge/webhook/webhook-handler';

/** Per controller. A forge waits ten seconds for a response. */
const FORWARD_TIMEOUT_MS = 4_000;
const RETRY_AFTER_SECONDS = '10';
/** Header of a forwarded delivery, which is not forwarded again. Controllers of other versions read it. */
const FORWARDED_HEADER = 'x-berth-handed-on';

/**
 * Handles authentic deliveries that only the leader can process, in a standby: forwards them
 * unchanged, with their signatures, to the other controllers until one accepts. If none does, the
 * response is 503, so that the forge shows it as failed, or sends it again. Nothing is stored here.
 * @param peers base URLs of the other controllers
 */
export function forwardToLeader(
  peers: readonly string[],
): (delivery: WebhookDelivery) => Promise<WebhookAnswer> {
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

/** Forwarded in addition to headers that begin with `x-`. */
const FORWARDED_HEADERS = new Set([
  'content-type',
  'authorization',
  'idempotency-key',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]);
