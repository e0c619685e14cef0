import type { IncomingMessage, ServerResponse } from 'node:http';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { isReviewed, judgeMutation } from '../../core/registration/webhooks/judge-review.ts';
import {
  readReview,
  reviewResponse,
  type ReviewRequest,
  type ReviewVerdict,
} from '../../core/registration/webhooks/review-message.ts';
import { MUTATE_PATH, VALIDATE_PATH } from '../../core/registration/webhooks/webhook-configurations.ts';
import { validateReview } from './validate-review.ts';

/** The object before and after the write, at most 3 MiB each (the limit of API servers), and as much again for the rest. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Reviews in progress. When one more is refused, the API server follows the `failurePolicy` of the webhook. */
const MAX_AT_ONCE = 64;
/** The timeout when the request names none, and the longest one that is accepted. */
const DEFAULT_TIMEOUT_MS = 10_000;
/** Reserved for sending the response. */
const RESERVE_MS = 250;

export interface ReviewHandlerOptions {
  /** Checks rights and namespaces. */
  readonly hub: KubeApi;
  readonly clock: Clock;
  /** Called for each reviewed write, before its response is sent. */
  readonly onResponse: (review: {
    readonly resource: string;
    readonly user: string;
    readonly verdict: ReviewVerdict;
  }) => void;
}

/** Answers `POST /admission/mutate` and `POST /admission/validate`. Both take an AdmissionReview. */
export function reviewHandler(
  options: ReviewHandlerOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  let inProgress = 0;
  return async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://berth');
    if (pathname !== MUTATE_PATH && pathname !== VALIDATE_PATH)
      return refuse(response, 404, 'no such webhook');
    if (request.method !== 'POST') return refuse(response, 405, 'expected POST');
    if (!/^application\/json\s*(;|$)/.test(request.headers['content-type'] ?? ''))
      return refuse(response, 415, 'expected the content type application/json');
    if (inProgress >= MAX_AT_ONCE) return refuse(response, 503, 'too many requests at once');
    inProgress += 1;
    try {
      const review = await readReviewRequest(request);
      if (typeof review === 'number')
        return refuse(response, review, `expected a body of at most ${MAX_BODY_BYTES} bytes`);
      if (typeof review === 'string') return refuse(response, 400, review);
      const timeoutMs = timeoutOf(searchParams.get('timeout'));
      const verdict =
        pathname === MUTATE_PATH
          ? judgeMutation(review, formatRfc3339(instantFromEpochMs(options.clock.now())))
          : await inTime(validateReview(review, options.hub), timeoutMs, options.clock);
      options.onResponse({ resource: review.resource, user: review.user.user, verdict });
      respond(
        response,
        200,
        reviewResponse(review, verdict, (text) => Buffer.from(text).toString('base64')),
      );
    } finally {
      inProgress -= 1;
    }
  };
}

/** @returns a text that says what is wrong, or 413 for a body that is too large */
async function readReviewRequest(request: IncomingMessage): Promise<ReviewRequest | string | 413> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  // Without this option, leaving the loop early destroys the request, and it could not be answered.
  const arriving = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of arriving) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_BODY_BYTES) return 413;
    chunks.push(chunk);
  }
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return 'expected a JSON body';
  }
  const review = readReview(body);
  if (typeof review === 'string' || isReviewed(review)) return review;
  return `request.resource: no webhook reviews ${review.resource}`;
}

/** @param given the timeout as Go formats durations; API servers send `5s` */
function timeoutOf(given: string | null): number {
  const seconds = Number(/^(\d{1,2})s$/.exec(given ?? '')?.[1]);
  const timeoutMs = seconds > 0 ? Math.min(seconds * 1_000, DEFAULT_TIMEOUT_MS) : DEFAULT_TIMEOUT_MS;
  return timeoutMs - RESERVE_MS;
}

function inTime(verdict: Promise<ReviewVerdict>, timeoutMs: number, clock: Clock): Promise<ReviewVerdict> {
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(timeoutMs, () =>
      resolve({ kind: 'unknown', message: 'Berth could not ask the hub in time' }),
    );
    verdict.then(resolve, reject).finally(cancel);
  });
}

function refuse(response: ServerResponse, status: number, message: string): void {
  // The rest of the body is not read, so the connection cannot be reused.
  response.setHeader('connection', 'close');
  respond(response, status, { message });
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
