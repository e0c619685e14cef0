import type { CommitStatus, StatusAnnotation, StatusReport } from '../contract/pull-request-forge.ts';
import { ResponseFields } from '../request/response-fields.ts';
import type { ForgeApi } from '../request/forge-api.ts';
import { shortDescription } from '../request/forge-dialect.ts';

const CONCLUSIONS = {
  success: 'success',
  neutral: 'neutral',
  'action-required': 'action_required',
  failure: 'failure',
} as const;
/** GitHub's limit. Annotations of further requests are added to the earlier ones. */
const ANNOTATIONS_PER_REQUEST = 50;
/** Characters. GitHub allows 65,535, but counts some of them in bytes. */
const MAX_SUMMARY_LENGTH = 60_000;
/** Of runs in progress whose ids are remembered. */
const MAX_IN_PROGRESS = 1_000;

/**
 * Check runs, which only a GitHub App may write. They have a summary, and annotations at lines of files.
 * Source: docs.github.com/rest/checks/runs.
 */
export class CheckRuns {
  readonly #api: ForgeApi;
  readonly #path: string;
  /** Ids of the check runs in progress, by commit and name. */
  readonly #inProgress = new Map<string, number>();

  /** @param path of the repository */
  constructor(api: ForgeApi, path: string) {
    this.#api = api;
    this.#path = path;
  }

  /** A completed run stays, because its annotations cannot be removed. A new run with the same name replaces it. */
  async write(status: CommitStatus, signal: AbortSignal): Promise<void> {
    const key = `${status.commit} ${status.context}`;
    const id = this.#inProgress.get(key) ?? (await this.#findRun(status, signal));
    if (status.state === 'pending') {
      this.#remember(key, await this.#send(id, { ...runOf(status), status: 'in_progress' }, signal));
      return;
    }
    const annotations = (status.report?.annotations ?? []).map(annotationOf);
    const conclusion = CONCLUSIONS[status.report?.conclusion ?? conclusionOf(status)];
    let run = id;
    for (let start = 0; start === 0 || start < annotations.length; start += ANNOTATIONS_PER_REQUEST) {
      const { output, ...rest } = runOf(status);
      const batch = annotations.slice(start, start + ANNOTATIONS_PER_REQUEST);
      const isLast = start + ANNOTATIONS_PER_REQUEST >= annotations.length;
      const end = isLast ? { status: 'completed', conclusion } : { status: 'in_progress' };
      run = await this.#send(run, { ...rest, ...end, output: { ...output, annotations: batch } }, signal);
      if (!isLast) this.#remember(key, run);
    }
    this.#inProgress.delete(key);
  }

  /** Finds a run that an earlier process started. */
  async #findRun({ commit, context }: CommitStatus, signal: AbortSignal): Promise<number | undefined> {
    const query = `check_name=${encodeURIComponent(context)}&filter=latest`;
    const response = await this.#api.request(
      signal,
      'GET',
      `${this.#path}/commits/${commit}/check-runs?${query}`,
    );
    const [run] = new ResponseFields(response.at('check_runs')).list(this.#api.subject);
    return run?.text('status') === 'in_progress' ? run.number('id') : undefined;
  }

  /**
   * Creates a run, or changes the one with this id.
   * @returns the id of the run
   */
  async #send(id: number | undefined, body: object, signal: AbortSignal): Promise<number> {
    const response = await (id === undefined
      ? this.#api.request(signal, 'POST', `${this.#path}/check-runs`, body)
      : this.#api.request(signal, 'PATCH', `${this.#path}/check-runs/${id}`, body));
    const written = response.number('id');
    if (written === undefined) throw this.#api.badResponse('gave no id to a check run');
    return written;
  }

  #remember(key: string, id: number): void {
    const [oldest] = this.#inProgress.keys();
    if (this.#inProgress.size >= MAX_IN_PROGRESS && oldest !== undefined) this.#inProgress.delete(oldest);
    this.#inProgress.set(key, id);
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
