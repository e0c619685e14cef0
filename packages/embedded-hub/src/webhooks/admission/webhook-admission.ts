import { randomUUID } from 'node:crypto';
import type { Authorizer } from '../../auth/rbac/authorizer.ts';
import { type JsonObject, type JsonValue, deepEqual, withoutKey } from '../../json/json-value.ts';
import { applyJsonPatch } from '../../patch/json-patch.ts';
import type { ResourceRef } from '../../schema/resource-definition.ts';
import type { Scheme } from '../../scheme/scheme.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { StatusError } from '../../wire/status-error.ts';
import { badRequest, internalError, forbidden } from '../../wire/status-errors.ts';
import type { ObjectSteps } from '../../write/write-request.ts';
import type { WebhookClients } from '../webhook-clients.ts';
import { WebhookError } from '../webhook-error.ts';
import { type AdmissionAttributes, AdmissionAuthority, authorizerVariables } from './admission-attributes.ts';
import {
  type ReviewOutcome,
  type ReviewOutput,
  admissionReview,
  readReviewResponse,
  reviewVersionOf,
  admissionRequest,
} from './admission-review.ts';
import { matchedRef, inMatchedVersion, evaluateConditions } from './match-constraints.ts';
import {
  type WebhookKind,
  ADMISSION_GROUP,
  admissionWebhooks,
  type AdmissionWebhook,
} from './webhook-configurations.ts';

export interface AdmissionSources extends SelectionSources {
  /** The outcome of a webhook call; undefined if it was not called yet. */
  readonly outcomeOf: (invocation: Invocation, kind: WebhookKind) => ReviewOutcome | undefined;
}

/**
 * Thrown when a write needs the responses of these webhooks. The caller that can wait for them
 * catches it.
 */
export class ReviewsNeeded extends Error {
  readonly invocations: readonly Invocation[];
  readonly kind: WebhookKind;

  constructor(invocations: readonly Invocation[], kind: WebhookKind) {
    super('reviews are needed');
    this.invocations = invocations;
    this.kind = kind;
  }
}

/** Warnings and audit annotations of admission. */
export interface AdmissionNotes {
  readonly warnings: string[];
  readonly annotations: Map<string, string>;
}

/** Webhooks are not called for webhook configurations, so that a wrong one can be corrected. */
function isExempt({ ref }: AdmissionAttributes): boolean {
  return ref.definition.group === ADMISSION_GROUP;
}

/** Calls mutating webhooks one by one. */
export class MutatingAdmission {
  readonly #sources: AdmissionSources;
  readonly #notes: AdmissionNotes;
  /** Webhooks with reinvocationPolicy IfNeeded that were called before a later change. */
  readonly #earlier = new Set<string>();
  readonly #reinvoked = new Set<string>();

  constructor(sources: AdmissionSources, notes: AdmissionNotes) {
    this.#sources = sources;
    this.#notes = notes;
  }

  /**
   * The object after all webhooks. If one changed it, earlier webhooks with reinvocationPolicy
   * IfNeeded are called once more.
   * @throws ReviewsNeeded, StatusError
   */
  mutate(attributes: AdmissionAttributes, { complete, mutateAgain }: ObjectSteps): JsonObject | undefined {
    if (isExempt(attributes) || admissionWebhooks(this.#sources.store, 'mutating').length === 0)
      return attributes.object;
    const first = this.#round(attributes, complete, 0);
    if (first.object === undefined || !first.changed) return first.object;
    const mutatedAgain = mutateAgain(first.object);
    if (!deepEqual(mutatedAgain, first.object)) this.#scheduleReinvocation();
    return this.#round({ ...attributes, object: mutatedAgain }, complete, 1).object;
  }

  #round(
    attributes: AdmissionAttributes,
    complete: (object: JsonObject) => JsonObject,
    round: number,
  ): { readonly object: JsonObject | undefined; readonly changed: boolean } {
    let { object } = attributes;
    let anyChanged = false;
    for (const [index, webhook] of admissionWebhooks(this.#sources.store, 'mutating').entries()) {
      if (round === 1 && !this.#reinvoked.has(webhook.id)) continue;
      const invocation = selectWebhook(webhook, { ...attributes, object }, this.#sources);
      if (invocation === undefined) continue;
      const auditKey = `round_${String(round)}_index_${String(index)}`;
      const next = this.#call(invocation, { ...attributes, object }, auditKey);
      const completed = next === object || next === undefined ? next : complete(next);
      const changed = !deepEqual(completed, object);
      this.#note(auditKey, invocation, changed);
      object = completed;
      anyChanged ||= changed;
      if (changed) this.#scheduleReinvocation();
      if (webhook.reinvocable) this.#earlier.add(webhook.id);
    }
    return { object, changed: anyChanged };
  }

  #scheduleReinvocation(): void {
    for (const id of this.#earlier) this.#reinvoked.add(id);
    this.#earlier.clear();
  }

  #note(auditKey: string, { webhook }: Invocation, mutated: boolean): void {
    const { configuration, name } = webhook;
    const value = JSON.stringify({ configuration, webhook: name, mutated });
    this.#notes.annotations.set(`mutation.webhook.admission.k8s.io/${auditKey}`, value);
  }

  #call(invocation: Invocation, attributes: AdmissionAttributes, auditKey: string): JsonObject | undefined {
    refuseDryRun(invocation, attributes);
    const outcome = this.#sources.outcomeOf(invocation, 'mutating');
    if (outcome === undefined) throw new ReviewsNeeded([invocation], 'mutating');
    const key = `failed-open.mutation.webhook.admission.k8s.io/${auditKey}`;
    applyOutcome(outcome, invocation, [this.#notes, key]);
    if (outcome.kind !== 'allowed' || outcome.patch === undefined) return attributes.object;
    const { name } = invocation.webhook;
    const reviewed = invocation.request['object'] as JsonObject | null;
    if (reviewed === null || attributes.object === undefined)
      throw internalError(
        `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`,
      );
    const patched = applyPatch(outcome.patch, reviewed);
    return invocation.ref.version === attributes.ref.version
      ? patched
      : this.#sources.toVersion(patched, attributes.ref);
  }
}

function applyPatch(patch: JsonValue, reviewed: JsonObject): JsonObject {
  try {
    return applyJsonPatch(reviewed, patch);
  } catch (error) {
    if (error instanceof StatusError && error.httpCode !== 413) throw internalError(error.statusMessage);
    throw error;
  }
}

/**
 * Calls all validating webhooks in parallel; the first refusal in their order is reported.
 * @throws ReviewsNeeded, StatusError
 */
export function validateByWebhooks(
  attributes: AdmissionAttributes,
  sources: AdmissionSources,
  notes: AdmissionNotes,
): void {
  if (isExempt(attributes)) return;
  const invocations = admissionWebhooks(sources.store, 'validating').flatMap(
    (webhook) => selectWebhook(webhook, attributes, sources) ?? [],
  );
  for (const invocation of invocations) refuseDryRun(invocation, attributes);
  const outcomes = invocations.map((invocation) => sources.outcomeOf(invocation, 'validating'));
  const missing = invocations.filter((_, index) => outcomes[index] === undefined);
  if (missing.length > 0) throw new ReviewsNeeded(missing, 'validating');
  for (const [index, outcome] of outcomes.entries()) {
    const key = `failed-open.validating.webhook.admission.k8s.io/round_0_index_${String(index)}`;
    applyOutcome(outcome as ReviewOutcome, invocations[index] as Invocation, [notes, key]);
  }
}

function refuseDryRun({ webhook }: Invocation, { dryRun }: AdmissionAttributes): void {
  if (!dryRun || !webhook.hasSideEffects) return;
  throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`);
}

/**
 * @throws StatusError when the webhook rejects the write, or the call fails and the failure policy
 * is Fail
 */
function applyOutcome(
  outcome: ReviewOutcome,
  { webhook }: Invocation,
  [notes, failedOpenKey]: readonly [AdmissionNotes, string],
): void {
  switch (outcome.kind) {
    case 'allowed':
      recordOutput(notes, webhook.name, outcome.output);
      return;
    case 'denied':
      recordOutput(notes, webhook.name, outcome.output);
      throw outcome.error;
    case 'failed':
      if (!webhook.failsOpen)
        throw internalError(`failed calling webhook ${JSON.stringify(webhook.name)}: ${outcome.message}`);
      notes.annotations.set(failedOpenKey, webhook.name);
  }
}

function recordOutput(notes: AdmissionNotes, name: string, { warnings, audit }: ReviewOutput): void {
  notes.warnings.push(...warnings);
  for (const [key, value] of Object.entries(audit)) notes.annotations.set(`${name}/${key}`, value);
}

/** The state of the hub that selection depends on. */
export interface SelectionSources {
  readonly store: ObjectStore;
  readonly scheme: Scheme;
  readonly authorizer: Authorizer;
  /** @throws ConversionNeeded */
  readonly toVersion: (object: JsonObject, ref: ResourceRef) => JsonObject;
}

/** A webhook to call, with the request in the version of its rule. */
export interface Invocation {
  readonly webhook: AdmissionWebhook;
  readonly ref: ResourceRef;
  readonly request: JsonObject;
}

/**
 * Whether and with which request a webhook is called for a write. Source: apiserver
 * `pkg/admission/plugin/webhook/generic/webhook.go`.
 * @throws StatusError 404 when its namespace does not exist, 403 when a condition fails and the
 * failure policy is Fail
 */
function selectWebhook(
  webhook: AdmissionWebhook,
  attributes: AdmissionAttributes,
  sources: SelectionSources,
): Invocation | undefined {
  const ref = matchedRef(webhook, attributes, sources);
  if (ref === undefined) return undefined;
  const request = admissionRequest(attributes, inMatchedVersion(attributes, ref, sources));
  return meetsConditions(webhook, [attributes, request], sources) ? { webhook, ref, request } : undefined;
}

function meetsConditions(
  { matchConditions, failsOpen }: AdmissionWebhook,
  [attributes, request]: readonly [AdmissionAttributes, JsonObject],
  { authorizer }: SelectionSources,
): boolean {
  if (matchConditions.length === 0) return true;
  const { object, oldObject } = request;
  const outcome = evaluateConditions(matchConditions, {
    object: object as JsonObject | null,
    oldObject: oldObject as JsonObject | null,
    request: withoutKey(withoutKey(request, 'object'), 'oldObject'),
    namespaceObject: null,
    params: null,
    ...authorizerVariables(new AdmissionAuthority(authorizer, attributes.user), attributes),
  });
  if (typeof outcome.result === 'boolean') return outcome.result;
  if (failsOpen) return false;
  throw forbidden(attributes.ref.definition, attributes.name, outcome.result.error);
}

/**
 * Calls one admission webhook. Never throws: a failure is an outcome, to which the failure policy
 * applies.
 */
export async function callAdmissionWebhook(
  clients: WebhookClients,
  { webhook, request }: Invocation,
  [kind, remainingMs]: readonly [WebhookKind, number],
): Promise<ReviewOutcome> {
  const version = reviewVersionOf(webhook);
  if (version === undefined)
    return {
      kind: 'failed',
      message:
        'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    };
  const uid = randomUUID();
  const body = (): JsonObject => admissionReview(version, uid, request);
  const timeoutMs = Math.max(1, Math.min(webhook.timeoutMs, remainingMs));
  try {
    const review = await clients.post(webhook.client, { body, timeoutMs });
    return readReviewResponse(review, { uid, version, kind, name: webhook.name });
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return { kind: 'failed', message: `failed to call webhook: ${error.message}` };
  }
}
