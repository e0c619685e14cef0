import type { CommitStatus, StatusAnnotation, StatusReport } from '../../../core/ports.ts';
import { ResponseFields } from '../request/response-fields.ts';
import type { ForgeApi } from '../request/forge-api.ts';
import { shortDescription } from '../request/forge-dialect.ts';

const CONCLUSIONS = {
  success: 'success',
  neutral: 'neutral',
  'action-required': 'action_required',
  failure: 'failure',
} as const;
/** The limit for one request. Annotations of further requests are added to the earlier ones. */
const ANNOTATIONS_AT_ONCE = 50;
/** The limit is 65,535. Some of it is reserved, because parts are counted in bytes. */
const MAX_SUMMARY_LENGTH = 60_000;
const MAX_REMEMBERED = 1_000;

/**
 * Check runs, which only a GitHub App may write. They have a summary, and annotations at lines of files.
 * Source: docs.github.com/rest/checks/runs.
 */
export class CheckRuns {
  readonly #api: ForgeApi;
  readonly #path: string;
  /** Ids of the check runs in progress, by commit and name. */
  readonly #open = new Map<string, number>();

  /** @param path of the repository */
  constructor(api: ForgeApi, path: string) {
    this.#api = api;
    this.#path = path;
  }

  /** A completed run stays, because its annotations cannot be removed. A new run with the same name replaces it. */
  async write(status: CommitStatus, signal: AbortSignal): Promise<void> {
    const key = `${status.commit} ${status.context}`;
    const id = this.#open.get(key) ?? (await this.#openRun(status, signal));
    if (status.state === 'pending') {
      this.#remember(key, await this.#send(id, { ...runOf(status), status: 'in_progress' }, signal));
      return;
    }
    const annotations = (status.report?.annotations ?? []).map(annotationOf);
    const conclusion = CONCLUSIONS[status.report?.conclusion ?? conclusionOf(status)];
    let run = id;
    for (let at = 0; at === 0 || at < annotations.length; at += ANNOTATIONS_AT_ONCE) {
      const { output, ...rest } = runOf(status);
      const some = annotations.slice(at, at + ANNOTATIONS_AT_ONCE);
      const isLast = at + ANNOTATIONS_AT_ONCE >= annotations.length;
      const end = isLast ? { status: 'completed', conclusion } : { status: 'in_progress' };
      run = await this.#send(run, { ...rest, ...end, output: { ...output, annotations: some } }, signal);
      if (!isLast) this.#remember(key, run);
    }
    this.#open.delete(key);
  }

  /** Finds a run that an earlier process started. */
  async #openRun({ commit, context }: CommitStatus, signal: AbortSignal): Promise<number | undefined> {
    const query = `check_name=${encodeURIComponent(context)}&filter=latest`;
    const answer = await this.#api.ask(signal, 'GET', `${this.#path}/commits/${commit}/check-runs?${query}`);
    const [run] = new ResponseFields(answer.at('check_runs')).list(this.#api.subject);
    return run?.text('status') === 'in_progress' ? run.number('id') : undefined;
  }

  /** @returns the id of the run */
  async #send(id: number | undefined, body: object, signal: AbortSignal): Promise<number> {
    const answer = await (id === undefined
      ? this.#api.ask(signal, 'POST', `${this.#path}/check-runs`, body)
      : this.#api.ask(signal, 'PATCH', `${this.#path}/check-runs/${id}`, body));
    const written = answer.number('id');
    if (written === undefined) throw this.#api.strange('gave no id to a check run');
    return written;
  }

  #remember(key: string, id: number): void {
    const [oldest] = this.#open.keys();
    if (this.#open.size >= MAX_REMEMBERED && oldest !== undefined) this.#open.delete(oldest);
    this.#open.set(key, id);
  }
}

function runOf(status: CommitStatus) {
  const { commit, context, targetUrl, report } = status;
  const title = shortDescription(status);
  const summary = (report?.summary ?? title).slice(0, MAX_SUMMARY_LENGTH);
  return {
    ...{ name: context, head_sha: commit, output: { title, summary } },
    ...(targetUrl !== undefined && { details_url: targetUrl }),
  };
}

function conclusionOf({ state }: CommitStatus): StatusReport['conclusion'] {
  return state === 'success' ? 'success' : 'failure';
}

function annotationOf({ file, line, level, title, message }: StatusAnnotation): object {
  return { path: file, start_line: line, end_line: line, annotation_level: level, title, message };
}
