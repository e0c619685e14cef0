import type { OwnDecisions } from './own-decisions.ts';
import { sameDecisions } from './own-decisions.ts';

/** A list of clusters as numbers. */
export interface NumberedClusters {
  /** The numbering of the numbers. Numbers of two indexes cannot be compared. */
  readonly numbering: object;
  readonly decisions: OwnDecisions;
}

/** The numbers of cluster lists. Looking up thousands of names again takes longer than deciding. */
const NUMBERED = new WeakMap<readonly string[], NumberedClusters>();

export function numberClusters(clusters: readonly string[], numbered: NumberedClusters): void {
  NUMBERED.set(clusters, numbered);
}

export function numbersOfClusters(clusters: readonly string[]): NumberedClusters | undefined {
  return NUMBERED.get(clusters);
}

/**
 * Whether two lists have the same clusters, in any order. Undefined if only a comparison of names
 * can tell.
 */
export function sameNumbers(left: readonly string[], right: readonly string[]): boolean | undefined {
  if (left === right) return true;
  if (left.length !== right.length) return false;
  const [a, b] = [NUMBERED.get(left), NUMBERED.get(right)];
  if (a === undefined || a.numbering !== b?.numbering) return undefined;
  return sameDecisions(a.decisions, b.decisions);
}
