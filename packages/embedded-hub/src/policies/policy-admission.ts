import { groupVersionOf } from '@berth/kube/model/object-ref';
import { CHECK_COST } from '@berth/kube-cel/library/authorization';
import { compileLabelSelector, matchesLabels } from '@berth/kube/model/selector/label-selector-compile';
import type { LabelMap } from '@berth/kube/model/selector/label-selector-requirement';
import { type JsonObject, getOwn, objectAt, textAt, withoutKey } from '../json/json-value.ts';
import { chargeWork } from '../json/work-budget.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { Scheme } from '../scheme/scheme.ts';
import type { StoredObject } from '../store/stored-object.ts';
import {
  type AdmissionAttributes,
  AdmissionAuthority,
  authorizerVariables,
} from '../webhooks/admission/admission-attributes.ts';
import { admissionRequest } from '../webhooks/admission/admission-review.ts';
import { matchedRef, requireNamespace, inMatchedVersion } from '../webhooks/admission/match-constraints.ts';
import type { AdmissionNotes, SelectionSources } from '../webhooks/admission/webhook-admission.ts';
import { StatusError } from '../wire/status-error.ts';
import { forbidden } from '../wire/status-errors.ts';
import type { AdmissionPolicy, PolicyBinding, ParamKind, ParamRef } from './admission-policy.ts';
import { type Denial, evaluatePolicy, type PolicyVerdict } from './evaluate-policy.ts';
import type { BoundPolicy, PolicySet } from './policy-set.ts';

/* Source: apiserver `pkg/admission/plugin/policy/validating/dispatcher.go`. */

/** The reason of a refusal, and its policy and binding. */
interface Refusal {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason: string;
}

export interface PolicySources extends SelectionSources {
  readonly policies: PolicySet;
}

/**
 * Evaluates all policies for one write; the first refusal in the order of names is reported.
 * @throws ConversionNeeded, StatusError when a policy rejects the write
 */
export function validateByPolicies(
  attributes: AdmissionAttributes,
  sources: PolicySources,
  notes: AdmissionNotes,
): void {
  const bound = sources.policies.policiesFor(attributes.ref.definition);
  if (bound.length === 0) return;
  const check = new PolicyCheck(attributes, sources, notes);
  const refusals = bound.flatMap((one) => check.refusalsOf(one));
  if (refusals[0] !== undefined) throw refused(attributes, refusals[0]);
}

const MAX_ANNOTATION_CHARACTERS = 10 * 1024;
const FAILURE_ANNOTATION = 'validation.policy.admission.k8s.io/validation_failure';
/**
 * Policies have the cost limits of the API server; the work budget of the request is a second
 * limit.
 */
const STEPS_PER_EVALUATION = 20;
const COST_PER_STEP = 50;

/** Evaluates policies for one write. */
class PolicyCheck {
  readonly #attributes: AdmissionAttributes;
  readonly #sources: PolicySources;
  readonly #notes: AdmissionNotes;
  readonly #authority: AdmissionAuthority;

  constructor(attributes: AdmissionAttributes, sources: PolicySources, notes: AdmissionNotes) {
    this.#attributes = attributes;
    this.#sources = sources;
    this.#notes = notes;
    this.#authority = new AdmissionAuthority(sources.authorizer, attributes.user);
  }

  refusalsOf({ policy, bindings }: BoundPolicy): readonly Refusal[] {
    const ref = this.#orProblem(() => matchedRef(policy.constraints, this.#attributes, this.#sources));
    if (ref === undefined) return [];
    if ('problem' in ref) return misconfigured(policy, undefined, ref);
    const { paramKind } = policy;
    const kind = paramKind === undefined ? undefined : paramResource(paramKind, this.#sources.scheme);
    if (kind !== undefined && 'problem' in kind) return misconfigured(policy, undefined, kind);
    const values = new Map<string, Set<string>>();
    const refusals = bindings.flatMap((binding) =>
      this.#refusalsOfBinding([policy, binding], [ref, kind], values),
    );
    for (const [key, distinct] of values) this.#note(`${policy.name}/${key}`, [...distinct].join(', '));
    return refusals;
  }

  #refusalsOfBinding(
    [policy, binding]: readonly [AdmissionPolicy, PolicyBinding],
    [ref, kind]: readonly [ResourceRef, ResourceRef | undefined],
    values: Map<string, Set<string>>,
  ): readonly Refusal[] {
    const attributes = this.#attributes;
    const { constraints } = binding;
    const matched =
      constraints === undefined
        ? ref
        : this.#orProblem(() => matchedRef(constraints, attributes, this.#sources));
    if (matched === undefined) return [];
    if ('problem' in matched) return misconfigured(policy, binding, matched);
    const params = collectParams(kind, [binding, attributes.namespace], this.#sources);
    if ('problem' in params) return misconfigured(policy, binding, params);
    const verdicts = params.map((one) => this.#evaluate(policy, ref, one));
    for (const [key, value] of verdicts.flatMap(({ annotations }) => annotations)) {
      const distinct = values.get(key) ?? new Set();
      values.set(key, distinct.add(value.slice(0, MAX_ANNOTATION_CHARACTERS)));
    }
    return verdicts.flatMap((verdict) => this.#applyActions([policy, binding], verdict));
  }

  #orProblem<T>(find: () => T): T | ConfigurationProblem {
    try {
      return find();
    } catch (error) {
      if (error instanceof StatusError) return { problem: error.statusMessage };
      throw error;
    }
  }

  #evaluate(policy: AdmissionPolicy, ref: ResourceRef, params: JsonObject | null): PolicyVerdict {
    const attributes = this.#attributes;
    const matched = inMatchedVersion(attributes, ref, this.#sources);
    const { object, oldObject } = matched;
    const request = withoutKey(withoutKey(admissionRequest(attributes, matched), 'object'), 'oldObject');
    const before = this.#authority.checks;
    const verdict = evaluatePolicy(policy, {
      object,
      oldObject,
      request,
      namespaceObject: this.#namespace(),
      params,
      ...authorizerVariables(this.#authority, attributes),
    });
    const checks = (this.#authority.checks - before) * CHECK_COST;
    chargeWork(STEPS_PER_EVALUATION + Math.ceil((verdict.cost - checks) / COST_PER_STEP));
    return verdict;
  }

  /**
   * Null for cluster-scoped objects and for a Namespace.
   * @throws StatusError 404
   */
  #namespace(): JsonObject | null {
    const { ref, namespace } = this.#attributes;
    if (namespace === '' || ref.definition.storageKey === 'namespaces') return null;
    return namespaceVariable(requireNamespace(this.#sources.store, namespace));
  }

  /** Executes the actions of the binding for the findings of the policy. */
  #applyActions(
    [policy, binding]: readonly [AdmissionPolicy, PolicyBinding],
    { denials, annotationErrors }: PolicyVerdict,
  ): readonly Refusal[] {
    const refusal = (message: string, reason: string): Refusal => ({
      policy: policy.name,
      binding: binding.name,
      message,
      reason,
    });
    const refusals: Refusal[] = [];
    for (const denial of denials) {
      const { message, reason } = denial;
      const names = `'${policy.name}' with binding '${binding.name}'`;
      for (const action of binding.actions) {
        if (action === 'Deny') refusals.push(refusal(message, reason));
        else if (action === 'Audit') this.#note(FAILURE_ANNOTATION, failureJson(binding, denial));
        else
          this.#notes.warnings.push(`Validation failed for ValidatingAdmissionPolicy ${names}: ${message}`);
      }
    }
    return [...refusals, ...annotationErrors.map((message) => refusal(message, ''))];
  }

  /** Keeps the first value of each key. */
  #note(key: string, value: string): void {
    const { annotations } = this.#notes;
    if (!annotations.has(key)) annotations.set(key, value);
  }
}

function failureJson({ name, policyName, actions }: PolicyBinding, { index, message }: Denial): string {
  return JSON.stringify([
    { message, policy: policyName, binding: name, expressionIndex: index, validationActions: actions },
  ]);
}

function misconfigured(
  { name, failsOpen }: AdmissionPolicy,
  binding: PolicyBinding | undefined,
  { problem }: ConfigurationProblem,
): readonly Refusal[] {
  if (failsOpen) return [];
  const what = binding === undefined ? 'policy' : 'binding';
  const message = `failed to configure ${what}: ${problem}`;
  return [{ policy: name, binding: binding?.name, message, reason: '' }];
}

const HTTP_CODES: Readonly<Record<string, number>> = { Forbidden: 403, RequestEntityTooLarge: 413 };
const INVALID_CODE = 422;

function refused(attributes: AdmissionAttributes, refusal: Refusal): StatusError {
  const { policy, binding, message, reason } = refusal;
  const by = binding === undefined ? `'${policy}'` : `'${policy}' with binding '${binding}'`;
  const why = `ValidatingAdmissionPolicy ${by} denied request: ${message}`;
  const { statusMessage, details } = forbidden(attributes.ref.definition, nameInMessage(attributes), why, [
    { reason: '', message: why },
  ]);
  return new StatusError(HTTP_CODES[reason] ?? INVALID_CODE, reason || 'Invalid', statusMessage, details);
}

/** Source: apiserver `pkg/admission/errors.go`, extractResourceName. */
function nameInMessage({ name, object }: AdmissionAttributes): string {
  const metadata = objectAt(object, 'metadata');
  return name || textAt(metadata, 'name') || textAt(metadata, 'generateName') || 'Unknown';
}

const VISIBLE_METADATA = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
];

/**
 * The fields of a Namespace that expressions can read. Source: apiserver
 * `pkg/admission/plugin/cel/condition.go`, CreateNamespaceObject.
 */
function namespaceVariable(namespace: JsonObject): JsonObject {
  const metadata: JsonObject = {};
  for (const key of VISIBLE_METADATA) {
    const value = getOwn(objectAt(namespace, 'metadata') ?? {}, key);
    if (value !== undefined) metadata[key] = value;
  }
  const { spec = {}, status = {} } = namespace;
  return { metadata, spec, status };
}

/** Why a policy cannot be evaluated; its `failurePolicy` applies. */
interface ConfigurationProblem {
  readonly problem: string;
}

/** The resource of the parameters, or its problem. */
function paramResource({ apiVersion, kind }: ParamKind, scheme: Scheme): ResourceRef | ConfigurationProblem {
  const { group, version } = groupVersionOf(apiVersion);
  const found = scheme.kind(group, version, kind);
  if (found !== undefined) return found;
  return { problem: `failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'` };
}

/**
 * The parameter objects for which a binding evaluates its policy; null for an evaluation without
 * one. An empty list: no evaluation. Source: apiserver
 * `pkg/admission/plugin/policy/generic/policy_dispatcher.go`, CollectParams.
 * @param namespace of the write
 * @throws ConversionNeeded
 */
function collectParams(
  kind: ResourceRef | undefined,
  [{ paramRef }, namespace]: readonly [PolicyBinding, string],
  sources: Pick<SelectionSources, 'store' | 'toVersion'>,
): readonly (JsonObject | null)[] | ConfigurationProblem {
  if (kind === undefined || paramRef === undefined) return [null];
  const { namespaced } = kind.definition;
  const within = paramRef.namespace || namespace;
  if (namespaced && within === '')
    return {
      problem: 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    };
  if (!namespaced && paramRef.namespace !== '')
    return { problem: 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`' };
  const found = foundParams(kind, [paramRef, namespaced ? within : ''], sources.store);
  if (found.length === 0 && paramRef.denyIfMissing)
    return { problem: 'no params found for policy binding with `Deny` parameterNotFoundAction' };
  return found.map(({ object }) => sources.toVersion(object, kind));
}

function foundParams(
  { definition: { storageKey: storage } }: ResourceRef,
  [{ name, selector }, namespace]: readonly [ParamRef, string],
  store: SelectionSources['store'],
): readonly StoredObject[] {
  if (name !== '') {
    const one = store.get({ storage, namespace, name });
    return one === undefined ? [] : [one];
  }
  const compiled = compileLabelSelector(selector);
  if (!compiled.ok) return [];
  return store
    .list(storage, namespace)
    .filter(({ object }) =>
      matchesLabels(compiled.selector, (objectAt(objectAt(object, 'metadata'), 'labels') ?? {}) as LabelMap),
    );
}
