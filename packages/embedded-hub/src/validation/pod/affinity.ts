import { dnsLabel, qualifiedName } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../../json/json-value.ts';
import { isObject, listAt, numberAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { checkSelector } from '../values/selector-rules.ts';
import { checkNodeSelector, checkNodeTerm } from './node-selector.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Source: pkg/apis/core/validation (validateAffinity). */
export function checkAffinity(affinity: JsonObject | undefined, at: FieldReporter): void {
  if (affinity === undefined) return;
  const node = objectAt(affinity, 'nodeAffinity');
  const place = at.at('nodeAffinity');
  const selector = objectAt(node, REQUIRED);
  if (selector !== undefined) checkNodeSelector(selector, place.at(REQUIRED));
  place.each(node, PREFERRED, (term, at) => {
    checkWeight(term, at);
    checkNodeTerm(objectAt(term, 'preference') ?? {}, false, at.at('preference'));
  });
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const pods = objectAt(affinity, kind);
    at.at(kind).each(pods, REQUIRED, checkPodTerm);
    at.at(kind).each(pods, PREFERRED, (term, place) => {
      checkWeight(term, place);
      checkPodTerm(objectAt(term, 'podAffinityTerm') ?? {}, place.at('podAffinityTerm'));
    });
  }
}

function checkWeight(term: JsonObject, at: FieldReporter): void {
  const weight = numberAt(term, 'weight') ?? 0;
  if (weight <= 0 || weight > 100) at.at('weight').invalid(weight, 'must be in the range 1-100');
}

function checkPodTerm(term: JsonObject, at: FieldReporter): void {
  checkSelector(objectAt(term, 'labelSelector'), at.at('labelSelector'));
  checkSelector(objectAt(term, 'namespaceSelector'), at.at('namespaceSelector'));
  for (const name of textsAt(term, 'namespaces')) at.at('namespace').validName(name, dnsLabel);
  checkLabelKeys(term, at);
  const key = textAt(term, 'topologyKey');
  if (key === '') at.at('topologyKey').required('can not be empty');
  at.at('topologyKey').validName(key, qualifiedName);
}

/** Source: pkg/apis/core/validation (ValidateMatchLabelKeysAndMismatchLabelKeys). */
export function checkLabelKeys(term: JsonObject, at: FieldReporter): void {
  const selector = objectAt(term, 'labelSelector');
  for (const list of ['matchLabelKeys', 'mismatchLabelKeys']) {
    const keys = textsAt(term, list);
    if (keys.length > 0 && selector === undefined)
      at.at(list).forbidden('must not be specified when labelSelector is not set');
    else for (const [index, key] of keys.entries()) at.at(list).at(index).validName(key, qualifiedName);
  }
  checkRepeatedKeys(term, selector, at);
  const mismatched = new Set(textsAt(term, 'mismatchLabelKeys'));
  for (const [index, key] of textsAt(term, 'matchLabelKeys').entries()) {
    if (!mismatched.has(key)) continue;
    const detail = 'exists in both matchLabelKeys and mismatchLabelKeys';
    at.at('matchLabelKeys').at(index).invalid(key, detail);
  }
}

/**
 * A key may occur once in the expressions of the selector, where the API server adds it, but not
 * twice.
 */
function checkRepeatedKeys(term: JsonObject, selector: JsonObject | undefined, at: FieldReporter): void {
  const matched = textsAt(term, 'matchLabelKeys');
  const seen = new Set(Object.keys(objectAt(selector, 'matchLabels') ?? {}));
  for (const expression of listAt(selector, 'matchExpressions').filter(isObject)) {
    const key = textAt(expression, 'key');
    const index = matched.indexOf(key);
    if (index >= 0 && seen.has(key))
      at.at(index).invalid(key, 'exists in both matchLabelKeys and labelSelector');
    seen.add(key);
  }
}
