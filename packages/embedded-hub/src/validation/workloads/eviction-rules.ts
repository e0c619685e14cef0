import { pathSegment } from '@berth/kube/model/selector/name-rules';
import { getOwn, objectAt, numberAt, textAt } from '../../json/json-value.ts';
import { PREEMPTION_POLICIES } from '../pod/pod-spec.ts';
import type { KindRules } from '../values/field-reporter.ts';
import { checkSelector } from '../values/metadata-rules.ts';
import { checkAtMostHundredPercent, checkCountOrPercent } from '../values/quantity-rules.ts';

const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

/** Source: pkg/apis/policy/validation (ValidatePodDisruptionBudget). */
export const DISRUPTION_BUDGET_RULES: KindRules = {
  name: pathSegment,
  metadataChecks: 2,
  anyFinalizer: true,
  validate: (budget, at) => {
    const spec = objectAt(budget, 'spec') ?? {};
    const place = at.at('spec');
    const limits = ['minAvailable', 'maxUnavailable'].filter((key) => getOwn(spec, key) !== undefined);
    if (limits.length === 2) place.invalid(spec, 'minAvailable and maxUnavailable cannot be both set');
    for (const key of limits) {
      checkCountOrPercent(getOwn(spec, key), place.at(key));
      checkAtMostHundredPercent(getOwn(spec, key), place.at(key));
    }
    checkSelector(objectAt(spec, 'selector'), place.at('selector'));
    const policy = getOwn(spec, 'unhealthyPodEvictionPolicy');
    place.at('unhealthyPodEvictionPolicy').oneOfIfPresent(policy, EVICTION_POLICIES);
  },
};

const HIGHEST_PRIORITY = 1_000_000_000;
const SYSTEM_PREFIX = 'system-';

/** Source: pkg/apis/scheduling/validation (ValidatePriorityClass). What may change is in the strategy of the kind. */
export const PRIORITY_CLASS_RULES: KindRules = {
  validate: (priorityClass, at, old) => {
    if (old !== undefined) return;
    const name = textAt(objectAt(priorityClass, 'metadata'), 'name');
    const value = numberAt(priorityClass, 'value') ?? 0;
    if (name.startsWith(SYSTEM_PREFIX)) {
      const detail = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
      at.at('metadata').at('name').forbidden(detail);
    } else if (value > HIGHEST_PRIORITY) {
      const detail = `maximum allowed value of a user defined priority is ${String(HIGHEST_PRIORITY)}`;
      at.at('value').forbidden(detail);
    }
    const policy = getOwn(priorityClass, 'preemptionPolicy');
    if (typeof policy === 'string') at.at('preemptionPolicy').oneOf(policy, PREEMPTION_POLICIES);
  },
};
