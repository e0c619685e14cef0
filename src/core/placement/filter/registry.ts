import type { EligibilityClass } from './eligibility.ts';
import type { FilterClass } from './filter-class.ts';
import type { PredicateClass } from './predicate-class.ts';
import type { TolerationClass } from './toleration-class.ts';

/** What a placement asks of each filter. */
export interface FilterClasses {
  readonly eligibility: EligibilityClass;
  readonly predicate: PredicateClass;
  readonly tolerations: TolerationClass;
}

/** In the order in which refusals are explained. There is always one. */
export type Filters = readonly [FilterClass, ...FilterClass[]];

/** Every filter. A new one joins here. */
export function filtersOf({ eligibility, predicate, tolerations }: FilterClasses): Filters {
  return [eligibility, predicate, tolerations];
}
