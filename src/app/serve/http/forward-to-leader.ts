import type { IncomingHttpHeaders } from 'node:http';
import { raw, type RequestHandler } from 'express';

const MAX_BODY_BYTES = 5 * 1024 * 1024;
/** A forge waits ten seconds for a response. */
const ANSWER_MS = 4_000;
const RETRY_AFTER_SECONDS = '10';
/** Header of a forwarded delivery, which is not forwarded again. */
const HANDED_ON = 'x-berth-handed-on';

/**
 * Handles webhook deliveries that only the leader can process, in a standby: forwards them
 * unchanged, with their signatures, to the other controllers until one accepts. If none does, the
 * response is 503, so that the forge shows it as failed, or sends it again. Nothing is stored here.
 * @param peers base URLs of the other controllers
 */
export function forwardToLeader(peers: readonly string[]): RequestHandler {
  const readBody = raw({ type: () => true, limit: MAX_BODY_BYTES, inflate: false });
  return (request, response, next) => {
    const hand = async (): Promise<void> => {
      const isHandedOn = request.headers[HANDED_ON] !== undefined;
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      for (const peer of isHandedOn ? [] : peers)
        if (await isTaken(`${peer.replace(/\/+$/, '')}${request.originalUrl}`, request.headers, body)) {
          response.status(202).json({ message: 'forwarded to the leader' });
          return;
        }
      response.status(503).set('retry-after', RETRY_AFTER_SECONDS);
      response.json({ message: 'this replica is a standby, and it cannot reach the leader' });
    };
    readBody(request, response, (error?: unknown) => {
      if (error !== undefined) next(error);
      else hand().catch(next);
    });
  };
}

async function isTaken(url: string, given: IncomingHttpHeaders, body: Buffer): Promise<boolean> {
  const headers = Object.entries(given).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' && (entry[0].startsWith('x-') || PASSED.has(entry[0])),
  );
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...Object.fromEntries(headers), [HANDED_ON]: 'true' },
      body: new Uint8Array(body),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    // Try the next one.
    return false;
  }
}

const PASSED = new Set([
  'content-type',
  'authorization',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]);

/** Event headers of forges that have one. */
const EVENTS: readonly (readonly [header: string, value: RegExp])[] = [
  ['x-github-event', /^(issue_comment|pull_request)/],
  ['x-gitea-event', /^(issue_comment|pull_request)/],
  ['x-forgejo-event', /^(issue_comment|pull_request)/],
  ['x-gitlab-event', /^(Note|Merge Request) Hook$/],
  ['x-event-key', /^(pullrequest|pr):/],
];

/** Whether a delivery is about a pull request. Pushes are processed by every controller. */
export function isAboutPullRequest(headers: IncomingHttpHeaders): boolean {
  return EVENTS.some(([header, value]) => {
    const given = headers[header];
    return typeof given === 'string' && value.test(given);
  });
}
