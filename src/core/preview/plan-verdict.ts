import type { SourceLocation } from '../model/source-location.ts';

export type FindingCode =
  | 'placement-emptied'
  | 'last-cluster'
  | 'held'
  | 'deletions-held'
  | 'removals-over-budget'
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

/** Something dangerous about a change. */
export interface PlanFinding {
  readonly code: FindingCode;
  readonly severity: 'danger' | 'warning' | 'notice';
  /** What it is about: `Placement team-a/web`. */
  readonly subject: string;
  /** One sentence. */
  readonly message: string;
  /** Where the subject is declared; absent where it is not known. */
  readonly location?: SourceLocation | undefined;
}

/** What guard rules say of a plan. */
export interface RulesVerdict {
  /** The head changes the rules: these are still judged by the base's. */
  readonly changed: boolean;
  /** The rules of the base: only these stop. */
  readonly base: readonly RuleResult[];
  /** Those of the head; empty unless `changed`. */
  readonly head: readonly RuleResult[];
}

export interface RuleResult {
  readonly name: string;
  readonly effect: 'deny' | 'warn';
  /** `failed`: the expression gave neither true nor false. Counts as broken. */
  readonly outcome: 'kept' | 'broken' | 'failed';
  /** The rule's own message; why, where it failed. */
  readonly message: string;
  readonly owners: readonly string[];
  readonly location: SourceLocation;
}

/** What a plan was made of. Equal parts give an equal plan. */
export interface PlanToken {
  /** 12 hexadecimal digits over the parts. */
  readonly token: string;
  /** Full ids of commits. */
  readonly base: string;
  readonly head: string;
  /** Digest of clusters, sets, bindings and scores; what others did to them shows here. */
  readonly inventory: string;
  /** Digest of what was published. */
  readonly decisions: string;
  /** Version of Berth. */
  readonly engine: string;
}
