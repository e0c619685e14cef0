import { deepEqual, type JsonObject, textAt } from '../json/json-value.ts';
import { type PolicySources, validateByPolicies } from '../policies/policy-admission.ts';
import { type Cluster, metadataOf } from '../request/cluster.ts';
import type { WriteOptions } from '../request/write-options.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { AdmissionAttributes, Operation } from '../webhooks/admission/admission-attributes.ts';
import type { AdmissionNotes, AdmissionSources } from '../webhooks/admission/webhook-admission.ts';
import { MutatingAdmission, validateByWebhooks } from '../webhooks/admission/webhook-admission.ts';
import { hasAdmissionWebhooks } from '../webhooks/admission/webhook-configurations.ts';
import type { UserInfo } from '../wire/user-info.ts';
import { replaceScale, scaleOf } from '../write/scale.ts';
import type { DynamicAdmission, DynamicStep, ObjectSteps, WriteRequest } from '../write/write-request.ts';
import type { WebhookResponses } from './webhook-responses.ts';

/** The attributes of a write for admission, without its objects. */
interface WriteSubject {
  readonly ref: ResourceRef;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
}

type ClusterParts = Pick<Cluster, 'store' | 'scheme' | 'authorizer' | 'policies'>;

/** Admission webhooks and policies as a step of a write; undefined if none exists for it. */
export function dynamicAdmission(
  cluster: ClusterParts,
  subject: WriteSubject & { readonly options: WriteOptions },
  responses: WebhookResponses,
): ((request: WriteRequest) => DynamicAdmission) | undefined {
  if (!hasDynamicAdmission(cluster, subject)) return undefined;
  return (request) => new DynamicWrite(request, subject, [sourcesOf(cluster, responses), responses]);
}

function hasDynamicAdmission({ store, policies }: ClusterParts, { ref }: WriteSubject): boolean {
  return hasAdmissionWebhooks(store) || policies.policiesFor(ref.definition).length > 0;
}

/**
 * Calls webhooks and policies for a deletion, and ignores their changes.
 * @throws ReviewsNeeded, StatusError
 */
export function admitDeletion(
  cluster: ClusterParts,
  subject: WriteSubject & {
    readonly old: JsonObject;
    readonly dryRun: boolean;
    readonly options: JsonObject;
  },
  responses: WebhookResponses,
): readonly string[] {
  if (!hasDynamicAdmission(cluster, subject)) return [];
  const { old, dryRun, options } = subject;
  const attributes: AdmissionAttributes = {
    ...requestAttributes(subject),
    operation: 'DELETE',
    object: undefined,
    old,
    dryRun,
    options: { ...options, kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
  };
  const sources = sourcesOf(cluster, responses);
  const unchanged = (object: JsonObject): JsonObject => object;
  new MutatingAdmission(sources, responses).mutate(attributes, {
    complete: unchanged,
    mutateAgain: unchanged,
  });
  validate(attributes, sources, responses);
  return responses.warnings;
}

type Sources = AdmissionSources & PolicySources;

/** Policies run before webhooks, as in the API server. */
function validate(attributes: AdmissionAttributes, sources: Sources, notes: AdmissionNotes): void {
  validateByPolicies(attributes, sources, notes);
  validateByWebhooks(attributes, sources, notes);
}

function sourcesOf(cluster: ClusterParts, { toVersion, outcomeOf }: WebhookResponses): Sources {
  const { store, scheme, authorizer, policies } = cluster;
  return { store, scheme, authorizer, policies, toVersion, outcomeOf };
}

type RequestAttributes = Pick<AdmissionAttributes, 'ref' | 'subresource' | 'namespace' | 'name' | 'user'>;

/** For a Namespace object, admission uses its own name as the namespace. */
function requestAttributes({ ref, subresource, namespace, name, user }: WriteSubject): RequestAttributes {
  const own = ref.definition.storageKey === 'namespaces' ? name : '';
  return { ref, subresource, name, user, namespace: ref.definition.namespaced ? namespace : own };
}

class DynamicWrite implements DynamicAdmission {
  readonly #request: WriteRequest;
  readonly #subject: WriteSubject & { readonly options: WriteOptions };
  readonly #sources: Sources;
  readonly #notes: AdmissionNotes;

  constructor(
    request: WriteRequest,
    subject: WriteSubject & { readonly options: WriteOptions },
    [sources, notes]: readonly [Sources, AdmissionNotes],
  ) {
    this.#request = request;
    this.#subject = subject;
    this.#sources = sources;
    this.#notes = notes;
  }

  mutate(step: DynamicStep, steps: ObjectSteps): JsonObject {
    const admission = new MutatingAdmission(this.#sources, this.#notes);
    if (this.#subject.subresource !== 'scale')
      return admission.mutate(this.#attributes(step), steps) ?? step.object;
    const unchanged = (object: JsonObject): JsonObject => object;
    const sent = this.#attributes(step);
    const scale = admission.mutate(sent, { complete: unchanged, mutateAgain: unchanged });
    if (scale === undefined || deepEqual(scale, sent.object)) return step.object;
    return replaceScale(this.#request, step.object, scale);
  }

  validate(step: DynamicStep): readonly string[] {
    validate(this.#attributes(step), this.#sources, this.#notes);
    return this.#notes.warnings;
  }

  #attributes({ operation, object, old }: DynamicStep): AdmissionAttributes {
    const { ref, subresource, options } = this.#subject;
    const inRequestForm = (one: JsonObject): JsonObject =>
      subresource === 'scale' ? scaleOf(ref, one) : one;
    const name = this.#subject.name || textAt(metadataOf(object), 'name');
    return {
      ...requestAttributes({ ...this.#subject, name }),
      operation,
      object: inRequestForm(object),
      old: old && inRequestForm(old),
      dryRun: options.dryRun,
      options: optionsJson(operation, options),
    };
  }
}

function optionsJson(operation: Operation, { dryRun, requested }: WriteOptions): JsonObject {
  return {
    kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions',
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun && { dryRun: ['All'] }),
    ...requested,
  };
}
