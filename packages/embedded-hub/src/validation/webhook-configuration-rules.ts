import type { JsonObject } from '../json/json-value.ts';
import { getOwn, numberAt, objectAt, textAt } from '../json/json-value.ts';
import { dnsSubdomain } from '@berth/kube/model/selector/name-rules';
import { checkAdmissionRule, checkMatchConditions } from './values/admission-match-rules.ts';
import type { FieldReporter, KindRules } from './values/field-reporter.ts';
import { checkSelector } from './values/selector-rules.ts';
import { checkReviewVersions, checkWebhookClient } from './values/webhook-client-rules.ts';

const MAX_TIMEOUT_SECONDS = 30;

/** Both kinds of webhook configurations. Source: kubernetes `pkg/apis/admissionregistration/validation/validation.go`. */
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
