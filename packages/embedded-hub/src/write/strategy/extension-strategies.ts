import {
  isObject,
  type JsonObject,
  type JsonValue,
  listAt,
  objectAt,
  textAt,
} from '../../json/json-value.ts';
import { approvalProblems, crdProblems } from '../../scheme/crd-problems.ts';
import type { Strategy } from './strategy.ts';

/** Custom resource definitions: completes names, and rejects a definition that cannot be served. */
export const CRD_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object) => {
    const spec = objectAt(object, 'spec');
    const names = objectAt(spec, 'names');
    if (spec === undefined || names === undefined) return object;
    const kind = textAt(names, 'kind');
    const completed: JsonObject = {
      ...names,
      listKind: textAt(names, 'listKind') || `${kind}List`,
      singular: textAt(names, 'singular') || kind.toLowerCase(),
    };
    const conversion = withServicePort(objectAt(spec, 'conversion') ?? { strategy: 'None' });
    return { ...object, spec: { ...spec, conversion, names: completed } };
  },
  validate: (object, old) => [
    ...crdProblems(object, old),
    ...(old === undefined ? approvalProblems(object) : []),
  ],
};

/** The default port of a conversion webhook is 443. */
function withServicePort(conversion: JsonObject): JsonObject {
  const webhook = objectAt(conversion, 'webhook');
  const clientConfig = objectAt(webhook, 'clientConfig');
  const service = objectAt(clientConfig, 'service');
  if (service === undefined || service['port'] !== undefined) return conversion;
  return {
    ...conversion,
    webhook: { ...webhook, clientConfig: { ...clientConfig, service: { ...service, port: 443 } } },
  };
}

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
