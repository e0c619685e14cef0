import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { isObject, listAt, objectAt } from '../../json/json-value.ts';
import type { Strategy } from './strategy.ts';

const DEFAULTS: JsonObject = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
};
const HTTPS_PORT = 443;

/** Source: kubernetes `pkg/apis/admissionregistration/v1/defaults.go`. */
export const VALIDATING_WEBHOOK_STRATEGY: Strategy = {
  generation: true,
  conditionalUpdate: true,
  fillIn: filledWith(DEFAULTS),
};
export const MUTATING_WEBHOOK_STRATEGY: Strategy = {
  generation: true,
  conditionalUpdate: true,
  fillIn: filledWith({ ...DEFAULTS, reinvocationPolicy: 'Never' }),
};

function filledWith(defaults: JsonObject): (object: JsonObject) => JsonObject {
  return (object) => {
    if (!Array.isArray(object['webhooks'])) return object;
    return { ...object, webhooks: listAt(object, 'webhooks').map((one) => filledWebhook(one, defaults)) };
  };
}

function filledWebhook(webhook: JsonValue, defaults: JsonObject): JsonValue {
  if (!isObject(webhook)) return webhook;
  const filled: JsonObject = { ...withoutNulls(webhook) };
  for (const [key, value] of Object.entries(defaults)) filled[key] ??= value;
  const client = objectAt(webhook, 'clientConfig');
  const service = objectAt(client, 'service');
  if (client !== undefined && service !== undefined)
    filled['clientConfig'] = { ...client, service: { ...service, port: service['port'] ?? HTTPS_PORT } };
  if (Array.isArray(webhook['rules']))
    filled['rules'] = listAt(webhook, 'rules').map((rule) => (isObject(rule) ? withScope(rule) : rule));
  return filled;
}

/** Sets the default scope `*` of a rule of a webhook or a policy. */
export function withScope(rule: JsonObject): JsonObject {
  return { ...rule, scope: rule['scope'] ?? '*' };
}

function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}
