import type { AdmissionCompilation, CompiledVariable } from '@berth/kube-cel/admission-cel';
import { compileAdmission, compileVariables } from '@berth/kube-cel/admission-cel';
import { isObject, type JsonObject, listAt, objectAt, textAt, textsAt } from '../json/json-value.ts';
import {
  type MatchConstraints,
  readMatchConstraints,
  type MatchCondition,
  readMatchConditions,
} from '../webhooks/admission/match-constraints.ts';

export interface CompiledExpression {
  readonly expression: string;
  readonly compilation: AdmissionCompilation;
}

export interface Validation extends CompiledExpression {
  readonly message: string;
  readonly messageExpression: CompiledExpression | undefined;
  readonly reason: string;
}

export interface AuditAnnotation extends CompiledExpression {
  readonly key: string;
}

export interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** A ValidatingAdmissionPolicy, compiled. */
export interface AdmissionPolicy {
  readonly name: string;
  readonly constraints: MatchConstraints;
  readonly failsOpen: boolean;
  readonly paramKind: ParamKind | undefined;
  readonly matchConditions: readonly MatchCondition[];
  readonly variables: readonly CompiledVariable[];
  readonly validations: readonly Validation[];
  readonly auditAnnotations: readonly AuditAnnotation[];
}

/** A ValidatingAdmissionPolicyBinding. */
export interface PolicyBinding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: ParamRef | undefined;
  /** Undefined: no restriction beyond the policy's. */
  readonly constraints: MatchConstraints | undefined;
  readonly actions: readonly string[];
}

export interface ParamRef {
  readonly name: string;
  readonly namespace: string;
  readonly selector: JsonObject | undefined;
  readonly denyIfMissing: boolean;
}

/** Source: apiserver `pkg/admission/plugin/policy/validating/plugin.go`, compilePolicy. */
export function readPolicy(object: JsonObject): AdmissionPolicy {
  const spec = objectAt(object, 'spec') ?? {};
  const paramKind = objectAt(spec, 'paramKind');
  const names = { params: paramKind !== undefined, authorizer: true };
  const variables = compileVariables(namedExpressions(spec), names);
  const all = { ...names, variables: variables.type };
  return {
    name: nameOf(object),
    constraints: readConstraints(objectAt(spec, 'matchConstraints') ?? {}),
    failsOpen: textAt(spec, 'failurePolicy') === 'Ignore',
    paramKind: paramKind && { apiVersion: textAt(paramKind, 'apiVersion'), kind: textAt(paramKind, 'kind') },
    matchConditions: readMatchConditions(spec, all),
    variables: variables.compiled,
    validations: objectsAt(spec, 'validations').map((one) => ({
      expression: textAt(one, 'expression'),
      compilation: compileAdmission(textAt(one, 'expression'), all, 'bool'),
      message: textAt(one, 'message'),
      messageExpression: messageOf(textAt(one, 'messageExpression'), { ...all, authorizer: false }),
      reason: textAt(one, 'reason'),
    })),
    auditAnnotations: objectsAt(spec, 'auditAnnotations').map((one) => ({
      key: textAt(one, 'key'),
      expression: textAt(one, 'valueExpression'),
      compilation: compileAdmission(textAt(one, 'valueExpression'), all, 'string or null'),
    })),
  };
}

function messageOf(
  expression: string,
  names: Parameters<typeof compileAdmission>[1],
): CompiledExpression | undefined {
  if (expression === '') return undefined;
  return { expression, compilation: compileAdmission(expression, names, 'string') };
}

export function readBinding(object: JsonObject): PolicyBinding {
  const spec = objectAt(object, 'spec') ?? {};
  const ref = objectAt(spec, 'paramRef');
  const resources = objectAt(spec, 'matchResources');
  return {
    name: nameOf(object),
    policyName: textAt(spec, 'policyName'),
    paramRef: ref && {
      name: textAt(ref, 'name'),
      namespace: textAt(ref, 'namespace'),
      selector: objectAt(ref, 'selector'),
      denyIfMissing: textAt(ref, 'parameterNotFoundAction') === 'Deny',
    },
    constraints: resources && readConstraints(resources),
    actions: textsAt(spec, 'validationActions'),
  };
}

/** Without rules it matches everything. */
function readConstraints(resources: JsonObject): MatchConstraints {
  const read = readMatchConstraints(resources, ['resourceRules', 'excludeResourceRules']);
  return read.rules?.length === 0 ? { ...read, rules: undefined } : read;
}

function namedExpressions(spec: JsonObject): { readonly name: string; readonly expression: string }[] {
  return objectsAt(spec, 'variables').map((one) => ({
    name: textAt(one, 'name'),
    expression: textAt(one, 'expression'),
  }));
}

function objectsAt(owner: JsonObject, key: string): readonly JsonObject[] {
  return listAt(owner, key).filter(isObject);
}

function nameOf(object: JsonObject): string {
  return textAt(objectAt(object, 'metadata'), 'name');
}
