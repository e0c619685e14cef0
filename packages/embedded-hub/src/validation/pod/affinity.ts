import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '@berth/kube/model/selector/name-rules';
import {
  getOwn,
  isObject,
  type JsonObject,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textsAt,
} from '../../json/json-value.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { checkSelector } from '../values/metadata-rules.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

const NOT_VALID = 'not a valid selector operator';

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
function checkLabelKeys(term: JsonObject, at: FieldReporter): void {
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

/** Source: pkg/apis/core/validation (ValidateNodeSelector). */
export function checkNodeSelector(selector: JsonObject, at: FieldReporter): void {
  if (listAt(selector, 'nodeSelectorTerms').length === 0)
    at.at('nodeSelectorTerms').required('must have at least one node selector term');
  at.each(selector, 'nodeSelectorTerms', (term, place) => checkNodeTerm(term, true, place));
}

/**
 * @param checksValues false for preferences, which may name values that are not valid label values
 */
function checkNodeTerm(term: JsonObject, checksValues: boolean, at: FieldReporter): void {
  at.each(term, 'matchExpressions', (requirement, place) => {
    checkOperator(requirement, place);
    place.at('key').validName(textAt(requirement, 'key'), qualifiedName);
    if (!checksValues) return;
    for (const [index, value] of textsAt(requirement, 'values').entries())
      place.at('values').at(index).validName(value, labelValue);
  });
  at.each(term, 'matchFields', checkField);
}

function checkOperator(requirement: JsonObject, at: FieldReporter): void {
  const [operator, count] = [textAt(requirement, 'operator'), listAt(requirement, 'values').length];
  const values = at.at('values');
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) values.required("must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (count !== 1) values.required("must be specified single value when `operator` is 'Lt' or 'Gt'");
  } else at.at('operator').invalid(operator, NOT_VALID);
}

function checkField(requirement: JsonObject, at: FieldReporter): void {
  const [operator, key] = [textAt(requirement, 'operator'), textAt(requirement, 'key')];
  if (operator !== 'In' && operator !== 'NotIn') at.at('operator').invalid(operator, NOT_VALID);
  else if (listAt(requirement, 'values').length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    at.at('values').required(detail);
  }
  if (key !== 'metadata.name') {
    at.at('key').invalid(key, 'not a valid field selector key');
    return;
  }
  for (const [index, value] of textsAt(requirement, 'values').entries())
    at.at('values').at(index).validName(value, dnsSubdomain);
}

export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Source: pkg/apis/core/validation (ValidateTolerations). */
export function checkTolerations(spec: JsonObject, at: FieldReporter): void {
  at.each(spec, 'tolerations', (toleration, place) => {
    const [key, operator] = [textAt(toleration, 'key'), textAt(toleration, 'operator')];
    if (key !== '') place.at('key').validName(key, qualifiedName);
    else if (operator !== 'Exists') {
      const detail =
        'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      place.at('operator').invalid(operator, detail);
    }
    const effect = textAt(toleration, 'effect');
    if (numberAt(toleration, 'tolerationSeconds') !== undefined && effect !== 'NoExecute')
      place.at('effect').invalid(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    checkTolerationOperator(operator, textAt(toleration, 'value'), place.at('operator'));
    place.at('effect').oneOfIfSet(effect, TAINT_EFFECTS);
  });
}

function checkTolerationOperator(operator: string, value: string, at: FieldReporter): void {
  if (operator === 'Equal' || operator === '') {
    const faults = labelValue(value);
    if (faults.length > 0) at.invalid(value, faults.join(';'));
  } else if (operator === 'Exists') {
    if (value !== '') at.invalid(value, "value must be empty when `operator` is 'Exists'");
  } else if (operator === 'Lt' || operator === 'Gt')
    at.unsupported(operator, ['Equal', 'Exists', 'Lt', 'Gt']);
  else at.unsupported(operator, ['Equal', 'Exists']);
}

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];
const NODE_POLICIES = ['Honor', 'Ignore'];

/** Source: pkg/apis/core/validation (validateTopologySpreadConstraints). */
export function checkSpreadConstraints(spec: JsonObject, at: FieldReporter): void {
  const constraints = listAt(spec, 'topologySpreadConstraints');
  at.each(spec, 'topologySpreadConstraints', (constraint, place, index) => {
    checkAboveZero(numberAt(constraint, 'maxSkew') ?? 0, place.at('maxSkew'));
    const [key, action] = [textAt(constraint, 'topologyKey'), textAt(constraint, 'whenUnsatisfiable')];
    if (key === '') place.at('topologyKey').required('can not be empty');
    if (!ACTIONS.includes(action)) place.at('whenUnsatisfiable').unsupported(action, ACTIONS);
    const repeated = constraints
      .slice(index + 1)
      .some(
        (one) =>
          isObject(one) && textAt(one, 'topologyKey') === key && textAt(one, 'whenUnsatisfiable') === action,
      );
    if (repeated) place.at('{topologyKey, whenUnsatisfiable}').duplicate(`{${key}, ${action}}`);
    checkMinDomains(constraint, action, place.at('minDomains'));
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy'])
      place.at(policy).oneOfIfPresent(getOwn(constraint, policy), NODE_POLICIES);
    checkLabelKeys(constraint, place);
    checkSelector(objectAt(constraint, 'labelSelector'), place.at('labelSelector'));
  });
}

function checkAboveZero(value: number, at: FieldReporter): void {
  if (value <= 0) at.invalid(value, 'must be greater than zero');
}

function checkMinDomains(constraint: JsonObject, action: string, at: FieldReporter): void {
  const count = numberAt(constraint, 'minDomains');
  if (count === undefined) return;
  checkAboveZero(count, at);
  if (action !== 'DoNotSchedule')
    at.invalid(count, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`);
}
