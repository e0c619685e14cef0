import type { SourceLocation } from '@berth/runtime/problem/source-location';

export type FindingCode =
  | 'cluster-unregistered'
  | 'data-lost'
  | 'placement-emptied'
  | 'last-cluster'
  | 'held'
  | 'deletions-held'
  | 'removals-over-budget'
  | 'grows-much'
  | 'file-lost'
  | 'work-stranded'
  | 'applicationset-fails'
  | 'unknown-to-argocd'
  | 'unsatisfied'
  | 'misconfigured'
  | 'unknown-set'
  | 'unknown-cluster'
  | 'unknown-score'
  | 'score-expired';

/** A risk of the change. */
export interface PlanFinding {
  readonly code: FindingCode;
  readonly severity: 'danger' | 'warning' | 'notice';
  /** The subject of the risk: `Placement team-a/web`. */
  readonly subject: string;
  /** One sentence. */
  readonly message: string;
  /** The change has this risk only when somebody approves what would be held. The message says so. */
  readonly ifApproved?: true;
  /** Where the subject is declared; absent if unknown. */
  readonly location?: SourceLocation | undefined;
}

/** The results of the guard rules for a plan. */
export interface RulesVerdict {
  /** The head changes the rules. The rules of the base still apply. */
  readonly changed: boolean;
  /** The rules of the base. Only these can stop the change. */
  readonly base: readonly RuleResult[];
  /** The rules of the head; empty unless `changed`. */
  readonly head: readonly RuleResult[];
}

export interface RuleResult {
  readonly name: string;
  readonly effect: 'deny' | 'warn';
  /** `failed`: the expression evaluated to neither true nor false. Counts as broken. */
  readonly outcome: 'kept' | 'broken' | 'failed';
  /** The message of the rule; for `failed`, the reason. */
  readonly message: string;
  readonly owners: readonly string[];
  /** An owner lets the change pass. */
  readonly overridden?: { readonly by: string; readonly reason: string } | undefined;
  readonly location: SourceLocation;
}

/** The inputs of a plan. Equal inputs give an equal plan. */
export interface PlanDigest {
  /** 12 hexadecimal digits: a digest of the inputs. */
  readonly token: string;
  /** Full ids of commits. */
  readonly base: string;
  readonly head: string;
  /** Digest of clusters, sets, bindings and scores. It shows changes that others made to them. */
  readonly inventory: string;
  /** Digest of what was published. */
  readonly decisions: string;
  /** Version of Berth. */
  readonly engine: string;
}
