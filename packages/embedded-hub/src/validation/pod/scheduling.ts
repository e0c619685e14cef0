import { labelValue, qualifiedName } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, numberAt, objectAt, textAt } from '../../json/json-value.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { checkSelector } from '../values/metadata-rules.ts';
import { checkLabelKeys } from './affinity.ts';

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
    checkOperator(operator, textAt(toleration, 'value'), place.at('operator'));
    place.at('effect').oneOfIfSet(effect, TAINT_EFFECTS);
  });
}

function checkOperator(operator: string, value: string, at: FieldReporter): void {
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
