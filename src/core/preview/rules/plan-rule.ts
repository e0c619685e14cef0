import type { SourceLocation } from '../../model/source-location.ts';

/** Where guard rules are in a repository. */
export const RULES_FILE = '.berth/rules.yaml';

/** What a plan must be like. */
export interface PlanRule {
  readonly name: string;
  /** CEL over `plan`; true: the rule is kept. */
  readonly expression: string;
  /** `deny` stops the plan. */
  readonly effect: 'deny' | 'warn';
  /** What the author of a change reads when it breaks the rule. */
  readonly message: string;
  /** Whom to ask; shown as they are written. */
  readonly owners: readonly string[];
  /** Of the expression. */
  readonly location: SourceLocation;
}
