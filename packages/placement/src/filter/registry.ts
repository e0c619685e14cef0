import type { EligibilityClass } from './eligibility.ts';
import type { FilterClass } from './filter-class.ts';
import type { PredicateClass } from './predicate-class.ts';
import type { TolerationClass } from './toleration-class.ts';

/** The class of a placement in each filter. */
export interface FilterClasses {
  readonly eligibility: EligibilityClass;
  readonly predicate: PredicateClass;
  readonly tolerations: TolerationClass;
}

/** The filters in the order in which refusals are explained. There is at least one. */
export type Filters = readonly [FilterClass, ...FilterClass[]];

/** All filters. Add a new one here. */
export function filtersOf({ eligibility, predicate, tolerations }: FilterClasses): Filters {
  return [eligibility, predicate, tolerations];
}
