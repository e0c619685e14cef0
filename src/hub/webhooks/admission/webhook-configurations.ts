import type { CompiledSelector } from '../../../core/model/selector/label-selector-compile.ts';
import { compileLabelSelector } from '../../../core/model/selector/label-selector-compile.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { isObject, listAt, numberAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { WebhookClientConfig } from '../../wire/webhook-client-config.ts';
import { readWebhookClientConfig } from '../../wire/webhook-client-config.ts';

export const ADMISSION_GROUP = 'admissionregistration.k8s.io';
const DEFAULT_TIMEOUT_SECONDS = 10;

export interface AdmissionRule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  /** `pods`, `pods/status`, `*`, `*\/scale`. */
  readonly resources: readonly string[];
  readonly scope: string;
}

export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** One webhook of a configuration. */
export interface AdmissionWebhook {
  /** Unique among all. */
  readonly id: string;
  readonly configuration: string;
  readonly name: string;
  readonly client: WebhookClientConfig;
  readonly reviewVersions: readonly string[];
  readonly rules: readonly AdmissionRule[];
  readonly equivalent: boolean;
  readonly namespaceSelector: CompiledSelector | undefined;
  readonly objectSelector: CompiledSelector | undefined;
  readonly matchConditions: readonly MatchCondition[];
  readonly failsOpen: boolean;
  readonly timeoutMs: number;
  readonly hasSideEffects: boolean;
  readonly reinvocable: boolean;
}

export type WebhookKind = 'mutating' | 'validating';

const parsed = new WeakMap<JsonObject, readonly AdmissionWebhook[]>();

export function hasAdmissionWebhooks(store: ObjectStore): boolean {
  return KINDS.some((kind) => store.count(storageOf(kind)) > 0);
}

const KINDS: readonly WebhookKind[] = ['mutating', 'validating'];

function storageOf(kind: WebhookKind): string {
  return `${kind}webhookconfigurations.${ADMISSION_GROUP}`;
}

/** All webhooks of a kind, by the names of their configurations, then as these list them. */
export function admissionWebhooks(store: ObjectStore, kind: WebhookKind): readonly AdmissionWebhook[] {
  const storage = storageOf(kind);
  if (store.count(storage) === 0) return [];
  return store.list(storage).flatMap(({ object }) => webhooksOf(object));
}

function webhooksOf(configuration: JsonObject): readonly AdmissionWebhook[] {
  const known = parsed.get(configuration);
  if (known !== undefined) return known;
  const name = textAt(objectAt(configuration, 'metadata'), 'name');
  const webhooks = listAt(configuration, 'webhooks')
    .filter(isObject)
    .map((webhook, index) => webhookFrom(webhook, name, index));
  parsed.set(configuration, webhooks);
  return webhooks;
}

function webhookFrom(webhook: JsonObject, configuration: string, index: number): AdmissionWebhook {
  const name = textAt(webhook, 'name');
  return {
    id: `${configuration}/${name}/${String(index)}`,
    configuration,
    name,
    client: readWebhookClientConfig(objectAt(webhook, 'clientConfig')),
    reviewVersions: textsAt(webhook, 'admissionReviewVersions'),
    rules: listAt(webhook, 'rules').filter(isObject).map(ruleFrom),
    equivalent: textAt(webhook, 'matchPolicy') !== 'Exact',
    namespaceSelector: selectorFrom(objectAt(webhook, 'namespaceSelector')),
    objectSelector: selectorFrom(objectAt(webhook, 'objectSelector')),
    matchConditions: listAt(webhook, 'matchConditions')
      .filter(isObject)
      .map((one) => ({ name: textAt(one, 'name'), expression: textAt(one, 'expression') })),
    failsOpen: textAt(webhook, 'failurePolicy') === 'Ignore',
    timeoutMs: (numberAt(webhook, 'timeoutSeconds') ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    hasSideEffects: !['None', 'NoneOnDryRun'].includes(textAt(webhook, 'sideEffects')),
    reinvocable: textAt(webhook, 'reinvocationPolicy') === 'IfNeeded',
  };
}

function ruleFrom(rule: JsonObject): AdmissionRule {
  return {
    operations: textsAt(rule, 'operations'),
    apiGroups: textsAt(rule, 'apiGroups'),
    apiVersions: textsAt(rule, 'apiVersions'),
    resources: textsAt(rule, 'resources'),
    scope: textAt(rule, 'scope') || '*',
  };
}

/** Undefined where everything matches. What cannot be read was refused when it was written. */
function selectorFrom(json: JsonObject | undefined): CompiledSelector | undefined {
  if (json === undefined || Object.keys(json).length === 0) return undefined;
  const compiled = compileLabelSelector(json);
  return compiled.ok ? compiled.selector : undefined;
}
