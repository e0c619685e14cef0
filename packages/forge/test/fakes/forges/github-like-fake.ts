import { createHmac } from 'node:crypto';
import type { ForgeResponse } from '../forge-server.ts';
import {
  type Asked,
  created,
  type FakeComment,
  FakeForge,
  type FakePull,
  type ForgeRight,
  MISSING,
  numbered,
  ok,
  type PullEvent,
  pageOf,
} from './fake-forge.ts';

const ACTIONS = { opened: 'opened', pushed: 'synchronize', closed: 'closed', merged: 'closed' } as const;

/** The part of the API that Gitea and GitHub share. */
export abstract class GitHubLikeFake extends FakeForge {
  readonly repository = 'team/fleet';
  protected abstract readonly pageSize: string;

  /** A signed delivery. */
  abstract delivery(event: string, payload: object, secret: string, id?: string): RequestInit;

  pullDelivery(number: number, event: PullEvent, secret: string): RequestInit {
    const pull = {
      number,
      head: { sha: this.pulls.get(number)?.head, ref: 'change' },
      base: { ref: 'main' },
    };
    const action = this.provider === 'gitea' && event === 'pushed' ? 'synchronized' : ACTIONS[event];
    return this.delivery('pull_request', { action, number, pull_request: pull }, secret);
  }

  commentDelivery({ id, number, author, body }: FakeComment, change: 'new' | 'edited', secret: string) {
    const action = change === 'new' ? 'created' : 'edited';
    const comment = { id, body, user: { login: author } };
    // Gitea says that it is on a pull request beside the issue, GitHub in it.
    const issue = this.provider === 'gitea' ? { number } : { number, pull_request: { url: 'https://x' } };
    const extra = this.provider === 'gitea' && { is_pull: true };
    return this.delivery('issue_comment', { action, ...extra, issue, comment }, secret);
  }

  /** As these forges sign and send it. */
  protected signed(
    payload: object,
    secret: string,
    headers: (hex: string) => Readonly<Record<string, string>>,
  ): RequestInit {
    const body = JSON.stringify({ repository: { clone_url: this.repositoryUrl }, ...payload });
    const hex = createHmac('sha256', secret).update(body).digest('hex');
    return { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers(hex) } };
  }

  protected rightFor({ method, path }: Asked): ForgeRight {
    if (path.endsWith('/permission')) return 'permissions';
    if (path.includes('/statuses/') || path.includes('/check-runs')) return 'status';
    return method === 'GET' ? 'read' : 'comment';
  }

  protected answer(asked: Asked): ForgeResponse {
    const { method, query, body } = asked;
    const path = asked.path.replace('/repos/team/fleet', '');
    const [, number, id, reactions, account, issue, commit] =
      /^(?:\/pulls\/(\d+)|\/issues\/comments\/(\d+)(\/reactions)?|\/collaborators\/(.+)\/permission|\/issues\/(\d+)\/comments|\/statuses\/(\w+))$/.exec(
        path,
      ) ?? [];
    if (path === '/user') return ok({ login: this.account });
    if (path === '') return ok({ default_branch: 'main' });
    if (path === '/pulls') return ok(numbered(this.openPulls.map(pullOf), query, this.pageSize));
    const pull = this.pulls.get(Number(number));
    if (pull !== undefined) return ok(pullOf(pull));
    if (account !== undefined) return ok({ permission: this.permissions.get(account) ?? 'none' });
    if (issue !== undefined && method === 'POST')
      return created(commentOf(this.write(Number(issue), this.account, String(body.body))));
    if (issue !== undefined)
      return ok(
        numbered(
          this.comments.filter((one) => one.number === Number(issue)).map(commentOf),
          query,
          this.pageSize,
        ),
      );
    if (commit !== undefined) {
      const { context, state, description } = body;
      this.addStatus({
        commit,
        context: String(context),
        state: String(state),
        description: String(description),
      });
      return created({});
    }
    const comment = id === undefined ? undefined : this.find(id);
    if (comment === undefined) return MISSING;
    if (reactions !== undefined) {
      comment.reactions.add(String(body.content));
      return created({ content: body.content });
    }
    if (method === 'DELETE') return this.remove(comment);
    return ok(commentOf(method === 'PATCH' ? this.edit(comment, body.body) : comment));
  }
}

function pullOf(pull: FakePull) {
  const { number, head, author = 'ada', title = 'Change', base = 'main', fork, draft, state, merged } = pull;
  return {
    id: number * 1000,
    number,
    title,
    draft: draft === true,
    state: merged === undefined ? (state ?? 'open') : 'closed',
    merged_at: merged === undefined ? null : '2026-03-01T12:00:00Z',
    merge_commit_sha: merged ?? null,
    user: { login: author },
    html_url: pageOf(number),
    base: { ref: base, repo: { id: 1 } },
    head: { ref: 'change', sha: head, repo: { id: fork === true ? 2 : 1 } },
  };
}

function commentOf({ id, author, body }: FakeComment) {
  return { id, node_id: `node${id}`, body, user: { login: author } };
}
