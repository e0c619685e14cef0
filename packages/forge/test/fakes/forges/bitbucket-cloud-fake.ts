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
  ok,
  type PullEvent,
  pageOf,
} from './fake-forge.ts';

const EVENTS = { opened: 'created', pushed: 'updated', closed: 'rejected', merged: 'fulfilled' } as const;
const STATES: Readonly<Record<string, string>> = {
  INPROGRESS: 'pending',
  SUCCESSFUL: 'success',
  FAILED: 'failure',
};
const PULLS_A_PAGE = 50;

/**
 * Bitbucket Cloud. Source: developer.atlassian.com/cloud/bitbucket/rest ("Pullrequests", "Commits", "Commit statuses", "Workspaces",
 * "Users"), support.atlassian.com/bitbucket-cloud/docs/event-payloads.
 */
export class BitbucketCloudFake extends FakeForge {
  readonly provider = 'bitbucket';
  readonly repository = 'team/fleet';
  override repositoryUrl = 'https://bitbucket.org/team/fleet';

  override accountId(name: string): string {
    return `{${name}}`;
  }

  /** There is no Retry-After. */
  override limited(): ForgeResponse {
    return {
      status: 429,
      body: { type: 'error', error: { message: 'Rate limit for this resource has been exceeded' } },
    };
  }

  pullDelivery(number: number, event: PullEvent, secret: string): RequestInit {
    const pull = this.pulls.get(number);
    const payload = { pullrequest: pull === undefined ? { id: number } : this.#pullOf(pull) };
    return this.delivery(`pullrequest:${EVENTS[event]}`, payload, secret);
  }

  commentDelivery({ id, number, author, body }: FakeComment, change: 'new' | 'edited', secret: string) {
    const payload = {
      actor: { uuid: this.accountId(author), display_name: author },
      pullrequest: { id: number },
      comment: { id, content: { raw: body } },
    };
    return this.delivery(`pullrequest:comment_${change === 'new' ? 'created' : 'updated'}`, payload, secret);
  }

  delivery(event: string, payload: object, secret: string): RequestInit {
    const repository = { full_name: this.repository, links: { html: { href: this.repositoryUrl } } };
    const body = JSON.stringify({ repository, ...payload });
    const headers = {
      'content-type': 'application/json',
      'x-event-key': event,
      'x-hub-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      'x-request-uuid': String(this.nextId++),
    };
    return { method: 'POST', body, headers };
  }

  protected rightFor({ method, path }: Asked): ForgeRight {
    if (path.includes('/permissions/')) return 'permissions';
    if (path.includes('/statuses/')) return 'status';
    return method === 'GET' ? 'read' : 'comment';
  }

  protected answer({ method, path, query, body }: Asked): ForgeResponse {
    if (path === '/user') return ok({ uuid: this.accountId(this.account) });
    if (path === '/workspaces/team/permissions/repositories/fleet')
      return ok({ values: this.#permissions(query) });
    const [, commit] = /^\/repositories\/[^/]+\/fleet\/commit\/(\w+)$/.exec(path) ?? [];
    if (commit !== undefined) return this.#commit(commit);
    const rest = path.replace('/repositories/team/fleet', '');
    if (rest === '') return ok({ mainbranch: { name: 'main' } });
    if (rest === '/pullrequests')
      return this.#page(
        this.openPulls.map((one) => this.#pullOf(one)),
        rest,
        query,
        PULLS_A_PAGE,
      );
    const [, number, comments, id, statusOf] =
      /^(?:\/pullrequests\/(\d+)(\/comments(?:\/(\d+))?)?|\/commit\/(\w+)\/statuses\/build)$/.exec(rest) ??
      [];
    if (statusOf !== undefined) return this.#setStatus(statusOf, body);
    if (id !== undefined) return this.#comment(this.find(id), method, body);
    if (comments !== undefined && method === 'POST')
      return created(this.#commentOf(this.write(Number(number), this.account, rawOf(body))));
    if (comments !== undefined) {
      const all = this.comments.filter((one) => one.number === Number(number));
      return this.#page(
        all.map((one) => this.#commentOf(one)),
        rest,
        query,
        100,
      );
    }
    const pull = this.pulls.get(Number(number));
    return pull === undefined ? MISSING : ok(this.#pullOf(pull));
  }

  #permissions(query: URLSearchParams): readonly object[] {
    const [, uuid] = /^user\.uuid="(.*)"$/.exec(query.get('q') ?? '') ?? [];
    return [...this.permissions]
      .filter(([name, permission]) => this.accountId(name) === uuid && permission !== 'none')
      .map(([name, permission]) => ({ user: { uuid: this.accountId(name) }, permission }));
  }

  /** Pull requests name their commits by 12 digits. */
  #commit(hash: string): ForgeResponse {
    const ids = [...this.pulls.values()].flatMap(({ head, merged }) => [head, merged ?? '']);
    const full = ids.find((id) => id.startsWith(hash));
    return full === undefined ? MISSING : ok({ hash: full });
  }

  /** The next page is an address. */
  #page(all: readonly object[], path: string, query: URLSearchParams, most: number): ForgeResponse {
    const page = Number(query.get('page') ?? 1);
    const size = Math.min(Number(query.get('pagelen') ?? 10), most);
    const next = new URLSearchParams(query);
    next.set('page', String(page + 1));
    const hasNext = all.length > page * size;
    return ok({
      values: all.slice((page - 1) * size, page * size),
      ...(hasNext && { next: `${this.apiUrl}/repositories/team/fleet${path}?${next.toString()}` }),
    });
  }

  #setStatus(commit: string, { key, name, state, description, url }: Asked['body']): ForgeResponse {
    if (String(key).length > 40 || url === undefined) return { status: 400, body: { type: 'error' } };
    const known = STATES[String(state)] ?? String(state);
    this.addStatus({ commit, context: String(name), state: known, description: String(description) });
    return created({});
  }

  #comment(comment: FakeComment | undefined, method: string, body: Asked['body']): ForgeResponse {
    if (comment === undefined) return MISSING;
    if (method === 'PUT' && comment.author !== this.account) return this.refuseRight();
    if (method === 'DELETE') return this.remove(comment);
    return ok(this.#commentOf(method === 'PUT' ? this.edit(comment, rawOf(body)) : comment));
  }

  #commentOf({ id, author, body }: FakeComment) {
    return { id, content: { raw: body }, user: { uuid: this.accountId(author) }, deleted: false };
  }

  #pullOf({ number, head, author = 'ada', base = 'main', fork, draft, state, merged }: FakePull) {
    const repository = (name: string) => ({ uuid: `{${name}}`, full_name: name });
    return {
      id: number,
      state: merged !== undefined ? 'MERGED' : state === 'closed' ? 'DECLINED' : 'OPEN',
      draft: draft === true,
      author: { uuid: this.accountId(author), display_name: author },
      title: 'Change',
      links: { html: { href: pageOf(number) } },
      source: {
        commit: head === '' ? null : { hash: head.slice(0, 12) },
        branch: { name: 'change' },
        repository: repository(fork === true ? 'stranger/fleet' : 'team/fleet'),
      },
      destination: { branch: { name: base }, repository: repository('team/fleet') },
      merge_commit: merged === undefined ? null : { hash: merged.slice(0, 12) },
    };
  }
}

function rawOf(body: Asked['body']): string {
  return String((body.content as { readonly raw?: unknown } | undefined)?.raw);
}
