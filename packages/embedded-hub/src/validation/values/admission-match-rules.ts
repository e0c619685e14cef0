import { type AdmissionCompilation, compileAdmission } from '@berth/kube-cel/admission-cel';
import { type JsonObject, type JsonValue, listAt, textAt, textsAt } from '../../json/json-value.ts';
import { chargeWork } from '../../json/work-budget.ts';
import { qualifiedName } from '@berth/kube/model/selector/name-rules';
import type { FieldReporter } from './field-reporter.ts';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];
const MAX_CONDITIONS = 64;
const STEPS_PER_EXPRESSION = 200;
const STEPS_PER_CHARACTER = 8;

/** A rule of a webhook or a policy. Source: kubernetes `pkg/apis/admissionregistration/validation`, validateRuleWithOperations. */
export function checkAdmissionRule(rule: JsonObject, at: FieldReporter): void {
  checkWildcard(rule, 'operations', 'operations', at);
  for (const [index, operation] of textsAt(rule, 'operations').entries())
    if (!OPERATIONS.includes(operation)) at.at('operations').at(index).unsupported(operation, OPERATIONS);
  checkWildcard(rule, 'apiGroups', 'API groups', at);
  checkWildcard(rule, 'apiVersions', 'API versions', at);
  for (const [index, version] of textsAt(rule, 'apiVersions').entries())
    if (version === '') at.at('apiVersions').at(index).required();
  checkResources(textsAt(rule, 'resources'), at.at('resources'));
  const scope = textAt(rule, 'scope');
  if (scope !== '' && !SCOPES.includes(scope)) at.at('scope').unsupported(scope, SCOPES);
}

/**
 * A list that must not be empty, and in which `*` must be the only item.
 * @param what the items, in the message
 */
function checkWildcard(rule: JsonObject, key: string, what: string, at: FieldReporter): void {
  const words = listAt(rule, key);
  if (words.length === 0) at.at(key).required();
  if (words.length > 1 && words.includes('*'))
    at.at(key).invalid(words as JsonValue, `if '*' is present, must not specify other ${what}`);
}

function checkResources(resources: readonly string[], at: FieldReporter): void {
  if (resources.length === 0) at.required();
  // Of the items so far: resources with all of their subresources, and subresources of all resources.
  const [withAllSubresources, ofAllResources] = [new Set<string>(), new Set<string>()];
  for (const [index, resource] of resources.entries()) {
    const slash = resource.indexOf('/');
    if (resource === '') at.at(index).required();
    if (slash < 0) continue;
    const [name, sub] = [resource.slice(0, slash), resource.slice(slash + 1)];
    if (withAllSubresources.has(name))
      at.at(index).invalid(resource, `if '${name}/*' is present, must not specify ${resource}`);
    if (ofAllResources.has(sub))
      at.at(index).invalid(resource, `if '*/${sub}' is present, must not specify ${resource}`);
    if (sub === '*') withAllSubresources.add(name);
    if (name === '*') ofAllResources.add(sub);
  }
  if (resources.length > 1 && resources.includes('*/*'))
    at.invalid([...resources], "if '*/*' is present, must not specify other resources");
  const plain = resources.filter((one) => one !== '' && !one.includes('/'));
  if (plain.includes('*') && plain.at(-1) !== '*')
    at.invalid([...resources], "if '*' is present, must not specify other resources without subresources");
}

/**
 * `matchConditions` of a webhook or a policy.
 * @param params whether they may read `params`
 */
export function checkMatchConditions(owner: JsonObject, at: FieldReporter, params: boolean): void {
  const conditions = listAt(owner, 'matchConditions');
  if (conditions.length > MAX_CONDITIONS) at.at('matchConditions').tooMany(conditions.length, MAX_CONDITIONS);
  const names = new Set<string>();
  at.each(owner, 'matchConditions', (condition, place) => {
    const [name, expression] = [textAt(condition, 'name'), textAt(condition, 'expression').trim()];
    checkCondition(expression, place.at('expression'), params);
    if (name === '') place.at('name').required();
    else place.at('name').validName(name, qualifiedName);
    if (name !== '' && names.has(name)) place.at('name').duplicate(name);
    names.add(name);
  });
}

function checkCondition(expression: string, at: FieldReporter, params: boolean): void {
  if (expression === '') at.required();
  else
    checkAdmissionExpression(expression, at, () =>
      compileAdmission(expression, { params, authorizer: true }, 'bool'),
    );
}

/**
 * Compiles an expression, and reports it if it does not compile. Compiling is charged to the work budget of the
 * request.
 */
export function checkAdmissionExpression(
  expression: string,
  at: FieldReporter,
  compile: () => AdmissionCompilation,
): AdmissionCompilation {
  chargeWork(STEPS_PER_EXPRESSION + STEPS_PER_CHARACTER * expression.length);
  const compilation = compile();
  if (!compilation.ok) at.invalid(expression, compilation.detail);
  return compilation;
}
