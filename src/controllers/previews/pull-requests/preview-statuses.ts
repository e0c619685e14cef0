import type { CommitStatus, PullRequestForge } from '@berth/forge/contract/pull-request-forge';
import { sha256 } from '@berth/runtime/sha256';
import { compareText } from '@berth/runtime/text/compare-text';
import { type PreviewOutcome, previewVerdict } from '../../../core/preview/comment/preview-outcome.ts';
import type { CommentApproval } from '../../../core/preview/plan.ts';
import { statusReport, ruleStatuses } from '../../../core/preview/comment/status-report.ts';

export interface PreviewStatusesOptions {
  readonly forge: Pick<PullRequestForge, 'writeStatus'>;
  readonly source: string;
  /** Absent: guard rules have no statuses of their own. */
  readonly knownRules: KnownRules | undefined;
}

/** The commit that gets the statuses, and the pull request that it is the head of, if any. */
export type Reported = Pick<CommitStatus, 'commit' | 'pullRequest'>;

export interface PlannedReport {
  readonly outcome: PreviewOutcome;
  readonly approvals: readonly CommentApproval[];
  /** Markdown. */
  readonly summary: string;
  readonly targetUrl: string | undefined;
}

/** The description of pending statuses. */
export const PLANNING = 'Planning what this would move';
/** More would exceed the requests that a forge allows a token in an hour. */
const MAX_RULES = 50;

/** The statuses of a commit: one of the whole preview, and one of each guard rule. */
export class PreviewStatuses {
  readonly #options: PreviewStatusesOptions;

  constructor(options: PreviewStatusesOptions) {
    this.#options = options;
  }

  async pending(reported: Reported, description: string, signal: AbortSignal): Promise<void> {
    const { forge, source } = this.#options;
    const status = { ...reported, state: 'pending', description, context: previewContext(source) } as const;
    await forge.writeStatus(status, signal);
  }

  /**
   * Writes the statuses of a plan. The one of the preview comes last, so that a branch that requires only this one
   * waits for all.
   * @param written digests of the statuses that this commit already has
   * @returns digests of the statuses that it has now
   */
  async planned(
    reported: Reported,
    { outcome, approvals, summary, targetUrl }: PlannedReport,
    written: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { forge, source, knownRules } = this.#options;
    if (outcome.kind === 'planned')
      knownRules?.record((outcome.plan.rules?.base ?? []).map(({ name }) => name));
    const rules = knownRules === undefined ? [] : ruleStatuses(outcome, knownRules.names());
    const digests: string[] = [];
    for (const { name, ...status } of rules.slice(0, MAX_RULES)) {
      const context = ruleContext(source, name);
      const digest = sha256([reported.commit, context, status.state, status.description].join('\n'));
      if (!written.includes(digest))
        await forge.writeStatus({ ...reported, ...status, context, targetUrl }, signal);
      digests.push(digest);
    }
    const { level, text } = previewVerdict(outcome, approvals);
    const state = level === 'stopped' || level === 'failed' ? 'failure' : 'success';
    const report = statusReport(outcome, approvals, summary);
    const context = previewContext(source);
    await forge.writeStatus({ ...reported, state, description: text, context, targetUrl, report }, signal);
    return digests;
  }
}

function previewContext(source: string): string {
  return `berth/preview/${source}`;
}

/** The name of a rule is free text. Characters that a forge may refuse become hyphens, and a digest keeps the names unique. */
function ruleContext(source: string, name: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,59}$/.test(name)) return `berth/rule/${source}/${name}`;
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 50);
  return `berth/rule/${source}/${plain}${plain === '' ? '' : '-'}${sha256(name).slice(0, 6)}`;
}

/** Each known rule gets a status on every pull request. */
const MAX_KNOWN_RULES = 100;

/** Where the names are stored. */
interface KnownRuleStore {
  get(name: string): KnownRule | undefined;
  set(name: string, rule: KnownRule): void;
  delete(name: string): void;
  keys(): readonly string[];
}

export interface KnownRule {
  readonly seenAtMs: number;
}

/**
 * The names of all guard rules that a repository ever had. A branch protection may still require the status of a
 * deleted rule.
 */
export class KnownRules {
  readonly #store: KnownRuleStore;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(store: KnownRuleStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Most recently seen first. */
  names(): readonly string[] {
    return this.#store.keys().toSorted((a, b) => this.#seenAt(b) - this.#seenAt(a) || compareText(a, b));
  }

  /** Records the names of the rules in a base. */
  record(names: readonly string[]): void {
    const seenAtMs = this.#now();
    for (const name of names) this.#store.set(name, { seenAtMs });
    for (const name of this.names().slice(MAX_KNOWN_RULES)) this.#store.delete(name);
  }

  #seenAt(name: string): number {
    return this.#store.get(name)?.seenAtMs ?? 0;
  }
}
