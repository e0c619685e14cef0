import { pathSegment } from '@berth/kube/model/selector/name-rules';
import { getOwn, objectAt } from '../../json/json-value.ts';
import { checkAtMostHundredPercent, checkCountOrPercent } from '../values/int-or-percent-rules.ts';
import type { KindRules } from '../values/field-reporter.ts';
import { checkSelector } from '../values/selector-rules.ts';

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
