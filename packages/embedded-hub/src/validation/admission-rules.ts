import { type AdmissionNames, compileAdmission, variablesAfter } from '@berth/kube-cel/admission-cel';
import { DYN } from '@berth/kube-cel/value/cel-type';
import {
  dns1035Label,
  dnsSubdomain,
  pathSegment,
  qualifiedName,
} from '@berth/kube/model/selector/name-rules';
import { utf8LengthBytes } from '@berth/runtime/text/utf8';
import {
  type JsonObject,
  type JsonValue,
  getOwn,
  listAt,
  objectAt,
  textAt,
  textsAt,
  numberAt,
} from '../json/json-value.ts';
import {
  checkAdmissionExpression,
  checkAdmissionRule,
  checkMatchConditions,
} from './values/admission-match-rules.ts';
import type { FieldReporter, KindRules } from './values/field-reporter.ts';
import { checkSelector } from './values/metadata-rules.ts';
import { checkReviewVersions, checkWebhookClient } from './values/webhook-client-rules.ts';

/* The kinds of admissionregistration.k8s.io. Source: kubernetes `pkg/apis/admissionregistration/validation/validation.go`. */

export const ADMISSION_POLICY_RULES: KindRules = {
  validate: (policy, at) => {
    const name = textAt(objectAt(policy, 'metadata'), 'name');
    checkPolicy(objectAt(policy, 'spec') ?? {}, name, at.at('spec'));
  },
};

export const POLICY_BINDING_RULES: KindRules = {
  validate: (binding, at) => {
    checkBinding(objectAt(binding, 'spec') ?? {}, at.at('spec'));
  },
};

const FAILURE_POLICIES = ['Fail', 'Ignore'];
const NO_CHECK = 'validations or auditAnnotations must contain at least one item';

function checkPolicy(spec: JsonObject, name: string, at: FieldReporter): void {
  checkDefaulted(spec, 'failurePolicy', FAILURE_POLICIES, at);
  const paramKind = objectAt(spec, 'paramKind');
  if (paramKind !== undefined) checkParamKind(paramKind, at.at('paramKind'));
  const constraints = objectAt(spec, 'matchConstraints');
  const place = at.at('matchConstraints');
  if (constraints === undefined) place.required();
  else {
    checkMatchResources(constraints, place);
    if (listAt(constraints, 'resourceRules').length === 0) place.at('resourceRules').required();
  }
  const params = paramKind !== undefined;
  checkMatchConditions(spec, at, params);
  const names = checkVariables(spec, at, { params, authorizer: true });
  if (listAt(spec, 'validations').length === 0 && listAt(spec, 'auditAnnotations').length === 0) {
    at.at('validations').required(NO_CHECK);
    at.at('auditAnnotations').required(NO_CHECK);
    return;
  }
  at.each(spec, 'validations', (validation, where) => {
    checkValidation(validation, where, names);
  });
  checkAuditAnnotations(spec, name, names, at);
}

/**
 * Checks an enum field that has a default, so that it is never absent. In Go it is a pointer: an
 * empty string is an unsupported value.
 */
function checkDefaulted(
  owner: JsonObject,
  key: string,
  supported: readonly string[],
  at: FieldReporter,
): void {
  const value = getOwn(owner, key);
  if (typeof value !== 'string') at.at(key).required();
  else at.at(key).oneOfIfPresent(value, supported);
}

function checkParamKind({ apiVersion = '', kind = '' }: JsonObject, at: FieldReporter): void {
  checkApiVersion(typeof apiVersion === 'string' ? apiVersion : '', at.at('apiVersion'));
  const word = typeof kind === 'string' ? kind : '';
  if (word === '') at.at('kind').required();
  else {
    const problems = dns1035Label(word.toLowerCase());
    if (problems.length > 0)
      at.at('kind').invalid(word, `may have mixed case, but should otherwise match: ${problems.join(',')}`);
  }
}

function checkApiVersion(text: string, at: FieldReporter): void {
  const parts = text === '/' ? ['', ''] : text.split('/');
  const [group, version] = parts.length === 1 ? ['', text] : [parts[0] as string, parts[1] as string];
  if (text === '') at.required();
  else if (parts.length > 2) at.invalid(text, `unexpected GroupVersion string: ${text}`);
  else {
    const inGroup = group === '' ? [] : dnsSubdomain(group);
    if (inGroup.length > 0) at.invalid(group, inGroup.join(','));
    const inVersion = version === '' ? [] : dns1035Label(version);
    if (version === '') at.invalid(text, 'version must be specified');
    else if (inVersion.length > 0) at.invalid(version, inVersion.join(','));
  }
}

const MATCH_POLICIES = ['Equivalent', 'Exact'];

function checkMatchResources(resources: JsonObject, at: FieldReporter): void {
  checkDefaulted(resources, 'matchPolicy', MATCH_POLICIES, at);
  for (const key of ['namespaceSelector', 'objectSelector'])
    checkSelector(objectAt(resources, key), at.at(key));
  for (const key of ['resourceRules', 'excludeResourceRules']) at.each(resources, key, checkNamedRule);
}

function checkNamedRule(rule: JsonObject, at: FieldReporter): void {
  const seen = new Set<string>();
  for (const [index, name] of textsAt(rule, 'resourceNames').entries()) {
    const place = at.at('resourceNames').at(index);
    place.validName(name, pathSegment);
    if (seen.has(name)) place.duplicate(name);
    seen.add(name);
  }
  checkAdmissionRule(rule, at);
}

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/**
 * Checks the variables of a policy.
 * @returns the names that its other expressions may use; `variables` is one of them only if the
 *   policy has variables
 */
function checkVariables(
  spec: JsonObject,
  at: FieldReporter,
  names: Omit<AdmissionNames, 'variables'>,
): AdmissionNames {
  if (listAt(spec, 'variables').length === 0) return names;
  let variables = variablesAfter(undefined);
  at.each(spec, 'variables', (variable, place) => {
    const [name, expression] = [textAt(variable, 'name'), textAt(variable, 'expression')];
    if (name.trim() === '') place.at('name').required('name is not specified');
    else if (!IDENTIFIER.test(name) || RESERVED.has(name))
      place.at('name').invalid(name, 'must be a valid CEL identifier');
    if (expression.trim() === '') {
      place.at('expression').required('expression is not specified');
      return;
    }
    const compilation = checkAdmissionExpression(expression, place.at('expression'), () =>
      compileAdmission(expression, { ...names, variables }, 'any'),
    );
    variables = variablesAfter(variables, [name, compilation.ok ? compilation.program.type : DYN]);
  });
  return { ...names, variables };
}

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

function checkValidation(validation: JsonObject, at: FieldReporter, names: AdmissionNames): void {
  const expression = textAt(validation, 'expression');
  if (expression.trim() === '') at.at('expression').required('expression is not specified');
  else
    checkAdmissionExpression(expression, at.at('expression'), () =>
      compileAdmission(expression, names, 'bool'),
    );
  const computed = textAt(validation, 'messageExpression');
  if (computed !== '' && computed.trim() === '')
    at.at('messageExpression').invalid(computed, 'must be non-empty if specified');
  else if (computed !== '')
    checkAdmissionExpression(computed, at.at('messageExpression'), () =>
      compileAdmission(computed, { ...names, authorizer: false }, 'string'),
    );
  const message = textAt(validation, 'message');
  if (message !== '' && message.trim() === '')
    at.at('message').invalid(message, 'must be non-empty if specified');
  else if (/[\n\r]/.test(message.trim())) at.at('message').invalid(message, 'must not contain line breaks');
  at.at('reason').oneOfIfPresent(getOwn(validation, 'reason'), REASONS);
}

const MAX_AUDIT_ANNOTATIONS = 20;

function checkAuditAnnotations(
  spec: JsonObject,
  policyName: string,
  names: AdmissionNames,
  at: FieldReporter,
): void {
  const all = listAt(spec, 'auditAnnotations');
  if (all.length > MAX_AUDIT_ANNOTATIONS)
    at.at('auditAnnotations').invalid(
      all as JsonValue,
      `must not have more than ${String(MAX_AUDIT_ANNOTATIONS)} auditAnnotations`,
    );
  const keys = new Set<string>();
  at.each(spec, 'auditAnnotations', (annotation, place) => {
    const key = textAt(annotation, 'key');
    if (policyName === '') place.at('key').invalid(key, 'requires metadata.name be non-empty');
    else
      for (const detail of qualifiedName(`${policyName}/${key}`))
        place.at('key').invalid(`${policyName}/${key}`, detail);
    checkValueExpression(textAt(annotation, 'valueExpression'), place.at('valueExpression'), names);
    if (keys.has(key)) place.at('key').duplicate(key);
    keys.add(key);
  });
}

const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;

function checkValueExpression(expression: string, at: FieldReporter, names: AdmissionNames): void {
  const trimmed = expression.trim();
  if (trimmed === '') at.required('valueExpression is not specified');
  else if (utf8LengthBytes(trimmed) > MAX_VALUE_EXPRESSION_BYTES)
    at.required(`must not exceed ${String(MAX_VALUE_EXPRESSION_BYTES)} bytes in length`);
  else checkAdmissionExpression(expression, at, () => compileAdmission(trimmed, names, 'string or null'));
}

function checkBinding(spec: JsonObject, at: FieldReporter): void {
  const policyName = textAt(spec, 'policyName');
  if (policyName === '') at.at('policyName').required();
  else at.at('policyName').validName(policyName, dnsSubdomain);
  const paramRef = objectAt(spec, 'paramRef');
  if (paramRef !== undefined) checkParamRef(paramRef, at.at('paramRef'));
  const resources = objectAt(spec, 'matchResources');
  if (resources !== undefined) checkMatchResources(resources, at.at('matchResources'));
  checkActions(textsAt(spec, 'validationActions'), at.at('validationActions'));
}

function checkParamRef(ref: JsonObject, at: FieldReporter): void {
  const [name, selector] = [textAt(ref, 'name'), objectAt(ref, 'selector')];
  const both = 'name and selector are mutually exclusive';
  if (name !== '') at.at('name').validName(name, pathSegment);
  if (name !== '' && selector !== undefined) at.at('name').forbidden(both);
  checkSelector(selector, at.at('selector'));
  if (name !== '' && selector !== undefined) at.at('selector').forbidden(both);
  if (name === '' && selector === undefined) at.required('one of name or selector must be specified');
  at.at('parameterNotFoundAction').oneOf(textAt(ref, 'parameterNotFoundAction'), ['Deny', 'Allow']);
}

const ACTIONS = ['Audit', 'Deny', 'Warn'];

function checkActions(actions: readonly string[], at: FieldReporter): void {
  const seen = new Set<string>();
  for (const [index, action] of actions.entries()) {
    if (!ACTIONS.includes(action)) at.at(index).unsupported(action, ACTIONS);
    if (seen.has(action)) at.at(index).duplicate(action);
    seen.add(action);
  }
  if (seen.has('Deny') && seen.has('Warn'))
    at.invalid(
      [...actions],
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    );
  if (actions.length === 0) at.required('at least one validation action is required');
}

const MAX_TIMEOUT_SECONDS = 30;

/** Both kinds of webhook configurations. */
export const WEBHOOK_CONFIGURATION_RULES: KindRules = {
  validate: (configuration, at) => {
    const mutating = textAt(configuration, 'kind') === 'MutatingWebhookConfiguration';
    const names = new Set<string>();
    at.each(configuration, 'webhooks', (webhook, place) => {
      checkWebhook(webhook, place, mutating);
      checkReviewVersions(webhook, 'admissionReviewVersions', place, 'must specify one of v1, v1beta1');
      const name = textAt(webhook, 'name');
      if (names.has(name)) place.at('name').duplicate(name);
      else if (name !== '') names.add(name);
    });
  },
};

function checkWebhook(webhook: JsonObject, at: FieldReporter, mutating: boolean): void {
  checkFullName(textAt(webhook, 'name'), at.at('name'));
  at.each(webhook, 'rules', checkAdmissionRule);
  at.at('failurePolicy').oneOfIfSet(textAt(webhook, 'failurePolicy'), ['Fail', 'Ignore']);
  at.at('matchPolicy').oneOfIfSet(textAt(webhook, 'matchPolicy'), ['Equivalent', 'Exact']);
  const sideEffects = getOwn(webhook, 'sideEffects') ?? undefined;
  if (sideEffects === undefined) at.at('sideEffects').required('must specify one of None, NoneOnDryRun');
  else at.at('sideEffects').oneOf(textAt(webhook, 'sideEffects'), ['None', 'NoneOnDryRun']);
  const timeout = numberAt(webhook, 'timeoutSeconds');
  if (timeout !== undefined && (timeout < 1 || timeout > MAX_TIMEOUT_SECONDS))
    at.at('timeoutSeconds').invalid(timeout, 'the timeout value must be between 1 and 30 seconds');
  for (const key of ['namespaceSelector', 'objectSelector'])
    checkSelector(objectAt(webhook, key), at.at(key));
  if (mutating)
    at.at('reinvocationPolicy').oneOfIfSet(textAt(webhook, 'reinvocationPolicy'), ['IfNeeded', 'Never']);
  checkWebhookClient(objectAt(webhook, 'clientConfig') ?? {}, at.at('clientConfig'));
  checkMatchConditions(webhook, at, false);
}

function checkFullName(name: string, at: FieldReporter): void {
  if (name === '') {
    at.required();
    return;
  }
  const problems = dnsSubdomain(name);
  if (problems.length > 0) at.invalid(name, problems.join(','));
  else if (name.split('.').length < 3)
    at.invalid(name, 'should be a domain with at least three segments separated by dots');
}
