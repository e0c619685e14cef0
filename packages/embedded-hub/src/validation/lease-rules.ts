import { numberAt, objectAt, textAt } from '../json/json-value.ts';
import type { KindRules } from './values/kind-rules.ts';

/** Source: pkg/apis/coordination/validation (ValidateLease). */
export const LEASE_RULES: KindRules = {
  anyFinalizer: true,
  validate: (lease, at) => {
    const spec = objectAt(lease, 'spec') ?? {};
    const place = at.at('spec');
    place.at('leaseDurationSeconds').positive(numberAt(spec, 'leaseDurationSeconds'));
    place.at('leaseTransitions').nonNegative(numberAt(spec, 'leaseTransitions'));
    if (textAt(spec, 'preferredHolder') !== '' && textAt(spec, 'strategy') === '')
      place.at('preferredHolder').forbidden('may only be specified if `strategy` is defined');
  },
};
