import type { IncomingMessage, ServerResponse } from 'node:http';
import { apiVersionOf, NAMESPACE, SUBJECT_ACCESS_REVIEW } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { OcmRequirement } from '@berth/ocm/admission/ocm-write';
import type { Clock } from '@berth/runtime/clock/clock';
import { ConflictError, errorText } from '@berth/runtime/errors';
import { type HttpListener, listenHttp } from '@berth/runtime/http/http-listener';
import type { Logger } from '@berth/runtime/logger';
import { sleep } from '@berth/runtime/loop/sleep';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import type { JsonObject } from '@berth/runtime/json/json-value';
import {
  answerConversion,
  isReviewed,
  judgeMutation,
  judgeValidation,
  readReview,
  type ReviewRequest,
  reviewResponse,
  type ReviewUser,
  type ReviewVerdict,
} from '../../core/registration/webhooks/review-message.ts';
import {
  CONVERT_PATH,
  hostOf,
  MUTATE_PATH,
  VALIDATE_PATH,
  type WebhookAddress,
} from '../../core/registration/webhooks/webhook-configurations.ts';
import { ensureConfigurations, ensureConversions, webhookOwner } from './hub-webhooks.ts';
import { WebhookCertificates, type WebhookIdentity } from './webhook-certificates.ts';

/** At most this long after a certificate was renewed or a configuration was changed, Berth notices it. */
const CHECK_INTERVAL_MS = 10_000;
/** Attempts at one pass, when other processes write at the same time. */
const MAX_ATTEMPTS = 5;

export interface AdmissionWebhooksOptions {
  readonly hub: KubeApi;
  /** The address to listen on. */
  readonly host: string;
  readonly port: number;
  /** How the hub reaches the webhooks. */
  readonly address: WebhookAddress;
  /** Namespace of the Secret with the certificate. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Whether this process is the one replica that may write. All replicas answer. */
  readonly mayWrite: () => boolean;
  readonly onResponse?: ((verdict: ReviewVerdict['kind']) => void) | undefined;
}

export interface RunningAdmission {
  /** What fails at the moment, as text for users. Berth retries all of it. */
  warnings(): readonly string[];
  close(): Promise<void>;
}

/**
 * Serves OCM's rules about clusters, sets and bindings as admission webhooks, and the conversion of the add-on API, and
 * registers them on the hub. They are registered only after this process listens.
 */
export function startAdmissionWebhooks(options: AdmissionWebhooksOptions): RunningAdmission {
  const { clock, random, log } = options;
  const supervisor = new Supervisor({ clock, random, log });
  const webhooks = new AdmissionWebhooks(options);
  supervisor.start('admission webhooks', async (signal) => {
    while (!signal.aborted) {
      await webhooks.check();
      await sleep(clock, CHECK_INTERVAL_MS, signal);
    }
  });
  return {
    warnings: () => webhooks.warnings(),
    close: async () => {
      await supervisor.close();
      await webhooks.close();
    },
  };
}

class AdmissionWebhooks {
  readonly #options: AdmissionWebhooksOptions;
  readonly #certificates: WebhookCertificates;
  #listener: HttpListener | undefined;
  #served: WebhookIdentity | undefined;
  #problem = '';

  constructor(options: AdmissionWebhooksOptions) {
    this.#options = options;
    this.#certificates = new WebhookCertificates({ ...options, host: hostOf(options.address) });
  }

  warnings(): readonly string[] {
    return this.#problem === '' ? [] : [`admission webhooks: ${this.#problem}; Berth will try again`];
  }

  /** Checks certificate, server and configurations once. A failure is kept as a warning. */
  async check(): Promise<void> {
    try {
      for (let attempt = 1; !(await this.#pass(attempt < MAX_ATTEMPTS)); attempt++);
    } catch (error) {
      this.#setProblem(errorText(error));
    }
  }

  async close(): Promise<void> {
    await this.#listener?.close();
  }

  /** @returns false if another process wrote first, so this one has to read again */
  async #pass(mayRepeat: boolean): Promise<boolean> {
    const { hub, address, mayWrite, log } = this.#options;
    try {
      const owner = await webhookOwner(hub);
      const identity = await this.#certificates.ensure(owner);
      if (identity === undefined) {
        this.#setProblem('there is no usable certificate yet; the leader creates it');
        return true;
      }
      await this.#serve(identity);
      if (mayWrite()) {
        const written = await ensureConfigurations(hub, address, { ...identity, owner });
        if (written.length > 0) log.info('admission webhook configurations were written', { written });
        const converted = await ensureConversions(hub, address, identity.trusted);
        if (converted.length > 0) log.info('the hub asks Berth for conversions', { of: converted });
      }
      this.#problem = '';
      return true;
    } catch (error) {
      if (error instanceof ConflictError && mayRepeat) return false;
      throw error;
    }
  }

  #setProblem(problem: string): void {
    if (problem !== this.#problem) this.#options.log.warn('admission webhooks', { problem });
    this.#problem = problem;
  }

  async #serve(identity: WebhookIdentity): Promise<void> {
    const { host, port, hub, clock, log, onResponse } = this.#options;
    const { cert, key } = identity;
    const tls = { cert, key, minVersion: 'TLSv1.2' } as const;
    if (this.#listener !== undefined) {
      if (this.#served?.cert !== cert) this.#listener.renew(tls);
    } else {
      const handle = reviewHandler({
        ...{ hub, clock },
        onResponse: ({ resource, user, verdict }) => {
          onResponse?.(verdict.kind);
          if (verdict.kind === 'refused')
            log.info('a write was refused', { resource, user, why: verdict.refusal });
          if (verdict.kind === 'unknown')
            log.warn('a write was refused', { resource, user, why: verdict.message });
        },
      });
      this.#listener = await listenHttp({ host, port, tls }, handle);
      log.info('admission webhooks are served', { url: this.#listener.url });
    }
    this.#served = identity;
  }
}

interface ReviewHandlerOptions {
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

/** The object before and after the write, at most 3 MiB each (the limit of API servers), and as much again for the rest. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Reviews in progress. When one more is refused, the API server follows the `failurePolicy` of the webhook. */
const MAX_AT_ONCE = 64;

/** Takes an AdmissionReview at two paths, and a ConversionReview at one. */
function reviewHandler(
  options: ReviewHandlerOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  let inProgress = 0;
  return async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://berth');
    if (![MUTATE_PATH, VALIDATE_PATH, CONVERT_PATH].includes(pathname))
      return refuse(response, 404, 'no such webhook');
    if (request.method !== 'POST') return refuse(response, 405, 'expected POST');
    if (!/^application\/json\s*(;|$)/.test(request.headers['content-type'] ?? ''))
      return refuse(response, 415, 'expected the content type application/json');
    if (inProgress >= MAX_AT_ONCE) return refuse(response, 503, 'too many requests at once');
    inProgress += 1;
    try {
      const body = await readBody(request);
      if (body === undefined)
        return refuse(response, 413, `expected a body of at most ${MAX_BODY_BYTES} bytes`);
      const sent = parseJson(body);
      const answer =
        sent === undefined
          ? 'expected a JSON body'
          : pathname === CONVERT_PATH
            ? answerConversion(sent)
            : await answerAdmission(sent, pathname, timeoutOf(searchParams.get('timeout')), options);
      if (typeof answer === 'string') return refuse(response, 400, answer);
      respond(response, 200, answer);
    } finally {
      inProgress -= 1;
    }
  };
}

/** @returns a text that says what is wrong with the review, or the review with its response */
async function answerAdmission(
  sent: unknown,
  pathname: string,
  timeoutMs: number,
  { hub, clock, onResponse }: ReviewHandlerOptions,
): Promise<JsonObject | string> {
  const review = readReview(sent);
  if (typeof review === 'string') return review;
  const { resource, user } = review;
  if (!isReviewed(review)) return `request.resource: no webhook reviews ${resource}`;
  const verdict =
    pathname === MUTATE_PATH
      ? judgeMutation(review, formatRfc3339(instantFromEpochMs(clock.now())))
      : await inTime(validateReview(review, hub), timeoutMs, clock);
  onResponse({ resource, user: user.user, verdict });
  return reviewResponse(review, verdict, (text) => Buffer.from(text).toString('base64'));
}

/** @returns undefined for a body that is too large */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  // Without this option, leaving the loop early destroys the request, and it could not be answered.
  const arriving = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of arriving) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @returns undefined for a text that is no JSON */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The timeout when the request names none, and the longest one that is accepted. */
const DEFAULT_TIMEOUT_MS = 10_000;

/** Reserved for sending the response. */
const RESERVE_MS = 250;

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

/**
 * The response of a validating webhook, after it has asked the hub what it needs. A write whose facts are unknown is
 * never allowed.
 */
async function validateReview(request: ReviewRequest, hub: KubeApi): Promise<ReviewVerdict> {
  const review = judgeValidation(request);
  if (review.kind === 'refused') return review;
  try {
    for (const requirement of review.requirements)
      if (!(await isMet(requirement, request.user, hub)))
        return { kind: 'refused', refusal: requirement.otherwise };
  } catch (error) {
    return { kind: 'unknown', message: `Berth could not ask the hub: ${errorText(error)}` };
  }
  return { kind: 'allowed' };
}

async function isMet(requirement: OcmRequirement, user: ReviewUser, hub: KubeApi): Promise<boolean> {
  switch (requirement.kind) {
    case 'right': {
      const review = await hub.create(SUBJECT_ACCESS_REVIEW, {
        apiVersion: apiVersionOf(SUBJECT_ACCESS_REVIEW),
        kind: SUBJECT_ACCESS_REVIEW.kind,
        metadata: {} as KubeObject['metadata'],
        spec: { ...user, resourceAttributes: requirement.right },
      });
      const { allowed, denied } = (review['status'] ?? {}) as { allowed?: boolean; denied?: boolean };
      return allowed === true && denied !== true;
    }
    case 'namespace-stays': {
      const found = await hub.get(NAMESPACE, { namespace: '', name: requirement.namespace });
      return found?.metadata.deletionTimestamp === undefined;
    }
  }
}
