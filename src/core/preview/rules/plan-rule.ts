import type { SourceLocation } from '@berth/runtime/problem/source-location';

/** Where guard rules are in a repository. */
export const RULES_FILE = '.berth/rules.yaml';

/** A requirement for plans. */
export interface PlanRule {
  readonly name: string;
  /** CEL over `plan`; true: the rule is kept. */
  readonly expression: string;
  /** `deny` stops the plan. */
  readonly effect: 'deny' | 'warn';
  /** The message for the author of a change that breaks the rule. */
  readonly message: string;
  /** The people to ask; shown as written. */
  readonly owners: readonly string[];
  /** The position of the expression. */
  readonly location: SourceLocation;
}
