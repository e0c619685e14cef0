import type { IncomingHttpHeaders } from 'node:http';
import { raw, type RequestHandler } from 'express';

const MAX_BODY_BYTES = 5 * 1024 * 1024;
/** Per controller. A forge waits ten seconds for a response. */
const FORWARD_TIMEOUT_MS = 4_000;
const RETRY_AFTER_SECONDS = '10';
/** Header of a forwarded delivery, which is not forwarded again. Controllers of other versions read it. */
const FORWARDED_HEADER = 'x-berth-handed-on';

/**
 * Handles webhook deliveries that only the leader can process, in a standby: forwards them
 * unchanged, with their signatures, to the other controllers until one accepts. If none does, the
 * response is 503, so that the forge shows it as failed, or sends it again. Nothing is stored here.
 * @param peers base URLs of the other controllers
 */
export function forwardToLeader(peers: readonly string[]): RequestHandler {
  const readBody = raw({ type: () => true, limit: MAX_BODY_BYTES, inflate: false });
  return (request, response, next) => {
    const forward = async (): Promise<void> => {
      const isForwarded = request.headers[FORWARDED_HEADER] !== undefined;
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      for (const peer of isForwarded ? [] : peers)
        if (await isAcceptedBy(`${peer.replace(/\/+$/, '')}${request.originalUrl}`, request.headers, body)) {
          response.status(202).json({ message: 'forwarded to the leader' });
          return;
        }
      response.status(503).set('retry-after', RETRY_AFTER_SECONDS);
      response.json({ message: 'this replica is a standby, and it cannot reach the leader' });
    };
    readBody(request, response, (error?: unknown) => {
      if (error !== undefined) next(error);
      else forward().catch(next);
    });
  };
}

/** Sends a delivery to another controller. One that cannot be reached does not accept it. */
async function isAcceptedBy(url: string, received: IncomingHttpHeaders, body: Buffer): Promise<boolean> {
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
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]);

/** The header in which each forge names the event, and its values for events of pull requests. */
const PULL_REQUEST_EVENTS: readonly (readonly [header: string, value: RegExp])[] = [
  ['x-github-event', /^(issue_comment|pull_request)/],
  ['x-gitea-event', /^(issue_comment|pull_request)/],
  ['x-forgejo-event', /^(issue_comment|pull_request)/],
  ['x-gitlab-event', /^(Note|Merge Request) Hook$/],
  ['x-event-key', /^(pullrequest|pr):/],
];

/** Whether a delivery is about a pull request. Pushes are processed by every controller. */
export function isAboutPullRequest(headers: IncomingHttpHeaders): boolean {
  return PULL_REQUEST_EVENTS.some(([header, value]) => {
    const event = headers[header];
    return typeof event === 'string' && value.test(event);
  });
}
