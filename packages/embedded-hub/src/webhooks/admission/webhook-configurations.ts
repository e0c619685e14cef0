import type { JsonObject } from '../../json/json-value.ts';
import { isObject, listAt, numberAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { readWebhookClientConfig, type WebhookClientConfig } from '../../wire/webhook-client-config.ts';
import {
  type MatchConstraints,
  readMatchConstraints,
  type MatchCondition,
  readMatchConditions,
} from './match-constraints.ts';

export const ADMISSION_GROUP = 'admissionregistration.k8s.io';
const DEFAULT_TIMEOUT_SECONDS = 10;

/** One webhook of a configuration. */
export interface AdmissionWebhook extends MatchConstraints {
  /** Unique among all. */
  readonly id: string;
  readonly configuration: string;
  readonly name: string;
  readonly client: WebhookClientConfig;
  readonly reviewVersions: readonly string[];
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
    ...readMatchConstraints(webhook, ['rules']),
    matchConditions: readMatchConditions(webhook, { params: false, authorizer: true }),
    failsOpen: textAt(webhook, 'failurePolicy') === 'Ignore',
    timeoutMs: (numberAt(webhook, 'timeoutSeconds') ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    hasSideEffects: !['None', 'NoneOnDryRun'].includes(textAt(webhook, 'sideEffects')),
    reinvocable: textAt(webhook, 'reinvocationPolicy') === 'IfNeeded',
  };
}
