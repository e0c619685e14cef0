import { compileMatchCondition } from '../../core/cel/admission-cel.ts';
import { celProblemText } from '../../core/cel/value/cel-problem.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, listAt, numberAt, objectAt, textAt, textsAt } from '../json/json-value.ts';
import { dnsSubdomain, qualifiedName } from '../schema/text/name-rules.ts';
import type { KindRules } from './values/kind-rules.ts';
import type { Place } from './values/place.ts';
import { checkSelector } from './values/selector-rules.ts';
import { checkReviewVersions, checkWebhookClient } from './values/webhook-client-rules.ts';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];
const MAX_TIMEOUT_SECONDS = 30;
const MAX_CONDITIONS = 64;

/** Both kinds of webhook configurations. Source: kubernetes `pkg/apis/admissionregistration/validation/validation.go`. */
export const WEBHOOK_CONFIGURATION_RULES: KindRules = {
  validate: (configuration, at) => {
    const mutating = textAt(configuration, 'kind') === 'MutatingWebhookConfiguration';
    const names = new Set<string>();
    at.each(configuration, 'webhooks', (webhook, place) => {
      checkWebhook(webhook, place, mutating);
      checkReviewVersions(
        webhook,
        'admissionReviewVersions',
        [place, ['v1', 'v1beta1']],
        'must specify one of v1, v1beta1',
      );
      const name = textAt(webhook, 'name');
      if (names.has(name)) place.at('name').duplicate(name);
      else if (name !== '') names.add(name);
    });
  },
};

function checkWebhook(webhook: JsonObject, at: Place, mutating: boolean): void {
  checkFullName(textAt(webhook, 'name'), at.at('name'));
  at.each(webhook, 'rules', checkRule);
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
  checkConditions(webhook, at);
}

function checkFullName(name: string, at: Place): void {
  if (name === '') {
    at.required();
    return;
  }
  const problems = dnsSubdomain(name);
  if (problems.length > 0) at.invalid(name, problems.join(','));
  else if (name.split('.').length < 3)
    at.invalid(name, 'should be a domain with at least three segments separated by dots');
}

function checkRule(rule: JsonObject, at: Place): void {
  checkWords(rule, 'operations', [at, 'operations']);
  for (const [index, operation] of textsAt(rule, 'operations').entries())
    if (!OPERATIONS.includes(operation)) at.at('operations').at(index).unsupported(operation, OPERATIONS);
  checkWords(rule, 'apiGroups', [at, 'API groups']);
  checkWords(rule, 'apiVersions', [at, 'API versions']);
  for (const [index, version] of textsAt(rule, 'apiVersions').entries())
    if (version === '') at.at('apiVersions').at(index).required();
  checkResources(textsAt(rule, 'resources'), at.at('resources'));
  const scope = textAt(rule, 'scope');
  if (scope !== '' && !SCOPES.includes(scope)) at.at('scope').unsupported(scope, SCOPES);
}

function checkWords(rule: JsonObject, key: string, [at, what]: readonly [Place, string]): void {
  const words = listAt(rule, key);
  if (words.length === 0) at.at(key).required();
  if (words.length > 1 && words.includes('*'))
    at.at(key).invalid(words as JsonValue, `if '*' is present, must not specify other ${what}`);
}

function checkResources(resources: readonly string[], at: Place): void {
  if (resources.length === 0) at.required();
  const wholeOf = new Set<string>();
  const everywhere = new Set<string>();
  for (const [index, resource] of resources.entries()) {
    const slash = resource.indexOf('/');
    if (resource === '') at.at(index).required();
    if (slash < 0) continue;
    const [name, sub] = [resource.slice(0, slash), resource.slice(slash + 1)];
    if (wholeOf.has(name))
      at.at(index).invalid(resource, `if '${name}/*' is present, must not specify ${resource}`);
    if (everywhere.has(sub))
      at.at(index).invalid(resource, `if '*/${sub}' is present, must not specify ${resource}`);
    if (sub === '*') wholeOf.add(name);
    if (name === '*') everywhere.add(sub);
  }
  if (resources.length > 1 && resources.includes('*/*'))
    at.invalid([...resources], "if '*/*' is present, must not specify other resources");
  const plain = resources.filter((one) => one !== '' && !one.includes('/'));
  if (plain.includes('*') && plain.at(-1) !== '*')
    at.invalid([...resources], "if '*' is present, must not specify other resources without subresources");
}

function checkConditions(webhook: JsonObject, at: Place): void {
  const conditions = listAt(webhook, 'matchConditions');
  if (conditions.length > MAX_CONDITIONS) at.at('matchConditions').tooMany(conditions.length, MAX_CONDITIONS);
  const names = new Set<string>();
  at.each(webhook, 'matchConditions', (condition, place) => {
    const [name, expression] = [textAt(condition, 'name'), textAt(condition, 'expression').trim()];
    checkExpression(expression, place.at('expression'));
    if (name === '') place.at('name').required();
    else place.at('name').named(name, qualifiedName);
    if (name !== '' && names.has(name)) place.at('name').duplicate(name);
    names.add(name);
  });
}

function checkExpression(expression: string, at: Place): void {
  if (expression === '') {
    at.required();
    return;
  }
  const compilation = compileMatchCondition(expression);
  if (!compilation.ok) at.invalid(expression, celProblemText(compilation.problem));
}
