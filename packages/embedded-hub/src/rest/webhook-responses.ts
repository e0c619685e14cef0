import type { Clock } from '@berth/runtime/clock/clock';
import type { JsonObject } from '../json/json-value.ts';
import { apiVersionOf, type ResourceRef } from '../schema/resource-definition.ts';
import { awaitsConversion, cacheConversion, ConversionNeeded, toVersion } from '../scheme/to-version.ts';
import { type Conversions, withoutResourceVersion, withResourceVersionOf } from '../webhooks/conversions.ts';
import type { ReviewOutcome } from '../webhooks/admission/admission-review.ts';
import {
  ReviewsNeeded,
  callAdmissionWebhook,
  type Invocation,
} from '../webhooks/admission/webhook-admission.ts';
import type { WebhookKind } from '../webhooks/admission/webhook-configurations.ts';
import type { WebhookClients } from '../webhooks/webhook-clients.ts';
import type { Cluster } from '../request/cluster.ts';
import { boundedWork, requestDeadlineExceeded } from '../wire/status-errors.ts';

/**
 * The time limit of a write in kube-apiserver. Source: apiserver `pkg/endpoints/handlers/rest.go`,
 * requestTimeoutUpperBound.
 */
const DEADLINE_MS = 34_000;

/** Waits for a webhook, and frees the seat of the request meanwhile. */
type WaitOutside = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * The responses of webhooks to one request so far. Its synchronous part runs again after each response
 * and looks up the earlier responses here, by content, since each run makes new objects.
 */
export class WebhookResponses {
  readonly #conversions: Conversions;
  readonly #clock: Clock;
  readonly #startedMs: number;
  readonly #webhooks: WebhookClients;
  readonly #converted = new Map<string, JsonObject>();
  readonly #outcomes = new Map<string, ReviewOutcome>();
  /** Audit annotations of admission in the last run. */
  readonly annotations = new Map<string, string>();
  readonly warnings: string[] = [];

  constructor({ conversions, webhooks, clock }: Pick<Cluster, 'conversions' | 'webhooks' | 'clock'>) {
    this.#conversions = conversions;
    this.#webhooks = webhooks;
    this.#clock = clock;
    this.#startedMs = clock.now();
  }

  /** The result of an admission webhook; undefined if it was not called yet. */
  readonly outcomeOf = (invocation: Invocation, kind: WebhookKind): ReviewOutcome | undefined =>
    this.#outcomes.get(reviewKeyOf(invocation, kind));

  /**
   * An object of this request in another version.
   * @throws ConversionNeeded
   */
  readonly toVersion = (object: JsonObject, ref: ResourceRef): JsonObject => {
    if (!awaitsConversion(object, ref)) return toVersion(object, ref);
    const known = this.#converted.get(keyOf(object, ref));
    if (known === undefined) throw new ConversionNeeded(object, ref);
    const converted = withResourceVersionOf(object, known);
    cacheConversion(object, ref.version, converted);
    return converted;
  };

  /**
   * Runs the synchronous part of a request again until all responses that it needs are known; the
   * work of each run is bounded.
   * @throws StatusError 500 when a webhook fails, 504 when all together take too long, and what
   * `run` throws
   */
  run<T>(run: () => T, waitOutside: WaitOutside): Promise<T> {
    return this.#runUntilComplete(() => boundedWork(run), waitOutside);
  }

  /**
   * The same without a bound, for small parts and for the hub's own controllers, which have no
   * seat.
   */
  runUnbounded<T>(run: () => T, waitOutside: WaitOutside = (call) => call()): Promise<T> {
    return this.#runUntilComplete(run, waitOutside);
  }

  async #runUntilComplete<T>(run: () => T, waitOutside: WaitOutside): Promise<T> {
    for (;;) {
      this.annotations.clear();
      this.warnings.length = 0;
      try {
        return run();
      } catch (error) {
        const call = this.#neededCall(error);
        if (this.#remainingMs() <= 0) throw requestDeadlineExceeded();
        await waitOutside(call);
      }
    }
  }

  /**
   * The webhook call that a run needs.
   * @throws every other error
   */
  #neededCall(error: unknown): () => Promise<unknown> {
    if (error instanceof ConversionNeeded) return () => this.#convert(error);
    if (error instanceof ReviewsNeeded)
      return () => Promise.all(error.invocations.map((invocation) => this.#review(invocation, error.kind)));
    throw error;
  }

  #remainingMs(): number {
    return this.#startedMs + DEADLINE_MS - this.#clock.now();
  }

  async #review(invocation: Invocation, kind: WebhookKind): Promise<void> {
    const outcome = await callAdmissionWebhook(this.#webhooks, invocation, [kind, this.#remainingMs()]);
    this.#outcomes.set(reviewKeyOf(invocation, kind), outcome);
  }

  async #convert({ object, ref }: ConversionNeeded): Promise<void> {
    this.#converted.set(keyOf(object, ref), await this.#conversions.convert(object, ref));
  }
}

function keyOf(object: JsonObject, ref: ResourceRef): string {
  return `${apiVersionOf(ref)}\n${JSON.stringify(withoutResourceVersion(object))}`;
}

function reviewKeyOf({ webhook, request }: Invocation, kind: WebhookKind): string {
  return `${kind}\n${webhook.id}\n${JSON.stringify(webhook.client)}\n${JSON.stringify(request)}`;
}
