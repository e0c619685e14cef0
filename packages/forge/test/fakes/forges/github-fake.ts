import type { ForgeResponse } from '../forge-server.ts';
import { type Asked, created, MISSING, ok } from './fake-forge.ts';
import { GitHubLikeFake } from './github-like-fake.ts';

export interface FakeCheckRun {
  readonly id: number;
  readonly commit: string;
  readonly name: string;
  status: string;
  conclusion: string | undefined;
  title: string;
  summary: string;
  readonly annotations: Readonly<Record<string, unknown>>[];
}

interface CheckBody {
  readonly name?: string;
  readonly head_sha?: string;
  readonly status?: string;
  readonly conclusion?: string;
  readonly output?: {
    readonly title: string;
    readonly summary: string;
    readonly annotations?: readonly Readonly<Record<string, unknown>>[];
  };
}

const STATES = new Map([
  ['success', 'success'],
  ['neutral', 'success'],
  ['action_required', 'failure'],
  ['failure', 'failure'],
]);

/** GitHub. Source: docs.github.com/rest ("Pulls", "Issues", "Checks", "Commit statuses"), docs.github.com/webhooks. */
export class GitHubFake extends GitHubLikeFake {
  readonly provider = 'github';
  protected readonly pageSize = 'per_page';
  readonly checkRuns: FakeCheckRun[] = [];
  /** Branches of the merge queue, by name. */
  readonly queue = new Map<string, string>();

  delivery(event: string, payload: object, secret: string, id = String(this.nextId++)): RequestInit {
    return this.signed(payload, secret, (hex) => ({
      'x-github-event': event,
      'x-hub-signature-256': `sha256=${hex}`,
      'x-github-delivery': id,
    }));
  }

  /** What a merge queue sends when it wants checks of a group. */
  mergeGroupDelivery(head: string, base: string, secret: string): RequestInit {
    const group = {
      ...{ head_sha: head, base_sha: base, base_ref: 'refs/heads/main' },
      head_ref: `refs/heads/gh-readonly-queue/main/pr-7-${base}`,
    };
    return this.delivery('merge_group', { action: 'checks_requested', merge_group: group }, secret);
  }

  /** The secondary limit; the primary one has no Retry-After. */
  override limited(seconds: number): ForgeResponse {
    const message = 'You have exceeded a secondary rate limit.';
    return { status: 403, headers: { 'retry-after': String(seconds) }, body: { message } };
  }

  protected override answer(asked: Asked): ForgeResponse {
    const path = asked.path.replace('/repos/team/fleet', '');
    if (path === '/graphql') return this.#fold(asked.body);
    const body = asked.body as CheckBody;
    if (path === '/check-runs') return this.#newRun(body);
    const [, run, commit] = /^(?:\/check-runs\/(\d+)|\/commits\/(\w+)\/check-runs)$/.exec(path) ?? [];
    if (run !== undefined) return this.#changeRun(Number(run), body);
    if (commit === undefined) return super.answer(asked);
    const name = asked.query.get('check_name');
    const runs = this.checkRuns.filter((one) => one.commit === commit && one.name === name);
    const found = runs.slice(-1).map(({ id, status }) => ({ id, status }));
    return ok({ total_count: runs.length, check_runs: found });
  }

  #fold({ variables }: Readonly<Record<string, unknown>>): ForgeResponse {
    const { id } = variables as { readonly id: string };
    const comment = this.comments.find((one) => `node${one.id}` === id);
    if (comment === undefined)
      return ok({ data: { minimizeComment: null }, errors: [{ type: 'NOT_FOUND' }] });
    comment.folded = true;
    return ok({ data: { minimizeComment: { minimizedComment: { isMinimized: true } } } });
  }

  #newRun(body: CheckBody): ForgeResponse {
    const run: FakeCheckRun = {
      id: this.nextId++,
      commit: body.head_sha ?? '',
      name: body.name ?? '',
      ...{ status: 'queued', conclusion: undefined, title: '', summary: '', annotations: [] },
    };
    const refused = this.#fill(run, body);
    if (refused !== undefined) return refused;
    this.checkRuns.push(run);
    return created({ id: run.id, status: run.status });
  }

  #changeRun(id: number, body: CheckBody): ForgeResponse {
    const run = this.checkRuns.find((one) => one.id === id);
    if (run === undefined) return MISSING;
    return this.#fill(run, body) ?? ok({ id, status: run.status });
  }

  /** Annotations add to those that are there. */
  #fill(run: FakeCheckRun, { status, conclusion, output }: CheckBody): ForgeResponse | undefined {
    const annotations = output?.annotations ?? [];
    const isWhole = annotations.every(
      (one) => one.path !== undefined && one.start_line !== undefined && one.end_line !== undefined,
    );
    if (annotations.length > 50 || !isWhole || (output?.summary.length ?? 0) > 65_535)
      return { status: 422, body: { message: 'Invalid request.' } };
    run.status = conclusion === undefined ? (status ?? run.status) : 'completed';
    run.conclusion = conclusion ?? run.conclusion;
    run.title = output?.title ?? run.title;
    run.summary = output?.summary ?? run.summary;
    run.annotations.push(...annotations);
    const state = run.conclusion === undefined ? 'pending' : (STATES.get(run.conclusion) ?? run.conclusion);
    this.addStatus({ commit: run.commit, context: run.name, state, description: run.title });
    return undefined;
  }
}
