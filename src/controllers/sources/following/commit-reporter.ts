import { BerthError, InputError, TransientError } from '@berth/runtime/errors';
import { formatLocation } from '@berth/runtime/problem/source-location';
import { formatCount } from '../../../core/preview/plan-text.ts';
import type { Clock } from '@berth/runtime/clock/clock';
import type { CommitStatus } from '@berth/forge/contract/pull-request-forge';
import type { Logger } from '@berth/runtime/logger';
import { Backoff } from '@berth/runtime/loop/backoff';
import type { Leadership } from '@berth/kube/leader-election/leadership';
import { sleep, WakeUp } from '@berth/runtime/loop/sleep';
import type { SourceContent } from '../manifests/source-content.ts';

export interface CommitReporterOptions {
  /** `berth/SOURCE` distinguishes the statuses of several sources in one repository. */
  readonly source: string;
  readonly targetUrl?: string | undefined;
  readonly post: (status: CommitStatus, signal: AbortSignal) => Promise<void>;
  /** The last report of each source, kept over restarts, so that nothing is reported twice. */
  readonly lastReports: {
    get(key: string): ReportedStatus | undefined;
    set(key: string, value: ReportedStatus): void;
  };
  /** Only the leader reports. Default: this process does. */
  readonly leadership?: Pick<Leadership, 'isHeld' | 'whenHeld'> | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly onError: (error: unknown) => void;
}

export interface ReportedStatus {
  readonly commit: string;
  readonly text: string;
}

/** The minimum time between two requests, because forges limit their number. */
const MIN_INTERVAL_MS = 1_000;
/** If commits arrive faster than they can be reported, the oldest reports are dropped. */
const MAX_WAITING = 100;
/** A status is dropped after this many failed attempts. */
const MAX_TRIES = 12;

/**
 * Reports the state of each commit of a source to the forge: `success`, or `failure` with the first
 * broken file, its line and column. Runs independently of the loop that reads commits, and never
 * delays it.
 */
export class CommitReporter {
  readonly #options: CommitReporterOptions;
  readonly #waiting = new Map<string, CommitStatus>();
  readonly #wakeUp = new WakeUp();

  constructor(options: CommitReporterOptions) {
    this.#options = options;
  }

  report(content: SourceContent): void {
    const { source, lastReports, targetUrl } = this.#options;
    if (content.commit === undefined) return;
    const status = { ...statusOf(content), commit: content.commit.id, context: `berth/${source}`, targetUrl };
    const last = lastReports.get(source);
    if (last?.commit === status.commit && last.text === textOf(status)) return;
    // Only the leader reports. A process that takes over starts with the newest commit.
    if (this.#options.leadership?.isHeld === false) this.#waiting.clear();
    this.#waiting.delete(status.commit);
    this.#waiting.set(status.commit, status);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MAX_WAITING && oldest !== undefined) this.#waiting.delete(oldest);
    this.#wakeUp.call();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, leadership } = this.#options;
    while (!signal.aborted) {
      await leadership?.whenHeld(signal);
      const [next] = this.#waiting.values();
      if (next === undefined) await this.#wakeUp.wait(signal);
      else {
        await this.#report(next, signal);
        if (this.#waiting.get(next.commit) === next) this.#waiting.delete(next.commit);
        await sleep(clock, MIN_INTERVAL_MS, signal);
      }
    }
  }

  async #report(status: CommitStatus, signal: AbortSignal): Promise<void> {
    const { post, lastReports, source, leadership, clock, random, log, onError } = this.#options;
    const backoff = new Backoff({ initialMs: 1_000, maxMs: 300_000 }, random);
    for (let attempt = 1; !signal.aborted; attempt++) {
      await leadership?.whenHeld(signal);
      if (signal.aborted) return;
      try {
        await post(status, signal);
        lastReports.set(source, { commit: status.commit, text: textOf(status) });
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn('commit status was not reported', { source, commit: status.commit, attempt, error });
        if (attempt === 1) onError(error);
        // A refused status is not retried; a newer commit is reported again.
        if (error instanceof InputError || !(error instanceof BerthError) || attempt >= MAX_TRIES) return;
        const retryAfterMs = error instanceof TransientError ? (error.retryAfterMs ?? 0) : 0;
        await sleep(clock, Math.max(retryAfterMs, backoff.nextMs()), signal);
      }
    }
  }
}

function statusOf(content: SourceContent): Pick<CommitStatus, 'state' | 'description'> {
  const errors = content.problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined)
    return {
      state: 'success',
      description: `${formatCount(content.objects.length, 'object')} in ${formatCount(content.files, 'file')}`,
    };
  const { commit: _commit, ...place } = first.location ?? { file: '', line: 1, column: 1 };
  const at = first.location === undefined ? '' : `${formatLocation(place)}: `;
  const more = errors.length > 1 ? `${errors.length} errors: ` : '';
  return { state: 'failure', description: `${more}${at}${first.message}` };
}

function textOf({ state, description }: CommitStatus): string {
  return `${state} ${description}`;
}
