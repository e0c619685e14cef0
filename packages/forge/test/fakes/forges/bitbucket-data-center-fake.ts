import { createHmac } from 'node:crypto';
import type { RepositoryPermission } from '../../../src/contract/pull-request-forge.ts';
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

const EVENTS = {
  opened: 'opened',
  pushed: 'from_ref_updated',
  closed: 'declined',
  merged: 'merged',
} as const;
const STATES: Readonly<Record<string, string>> = {
  INPROGRESS: 'pending',
  SUCCESSFUL: 'success',
  FAILED: 'failure',
};
const RIGHTS: Readonly<Record<string, readonly RepositoryPermission[]>> = {
  REPO_READ: ['read', 'write', 'admin'],
  REPO_WRITE: ['write', 'admin'],
  REPO_ADMIN: ['admin'],
};
const BASE = '/projects/TEAM/repos/fleet';

/**
 * Bitbucket Data Center. Source: developer.atlassian.com/server/bitbucket/rest,
 * confluence.atlassian.com/bitbucketserver/event-payload-938025882.html.
 */
export class BitbucketDataCenterFake extends FakeForge {
  protected override readonly basePath = '/rest/api/latest';
  readonly provider = 'bitbucket-data-center';
  readonly repository = 'TEAM/fleet';
  override repositoryUrl = 'https://bitbucket.example/scm/team/fleet.git';

  pullDelivery(number: number, event: PullEvent, secret: string): RequestInit {
    const pull = this.pulls.get(number);
    const described = pull === undefined ? { id: number, toRef: this.#ref('main', 1) } : this.#pullOf(pull);
    return this.delivery(`pr:${EVENTS[event]}`, { pullRequest: described }, secret);
  }

  commentDelivery({ id, number, author, body }: FakeComment, change: 'new' | 'edited', secret: string) {
    const pull = this.pulls.get(number);
    const payload = {
      actor: { name: author },
      pullRequest: pull === undefined ? { id: number, toRef: this.#ref('main', 1) } : this.#pullOf(pull),
      comment: { id, text: body, author: { name: author } },
    };
    return this.delivery(`pr:comment:${change === 'new' ? 'added' : 'edited'}`, payload, secret);
  }

  delivery(event: string, payload: object, secret: string): RequestInit {
    const body = JSON.stringify({ eventKey: event, ...payload });
    const headers = {
      'content-type': 'application/json',
      'x-event-key': event,
      'x-hub-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      'x-request-id': String(this.nextId++),
    };
    return { method: 'POST', body, headers };
  }

  protected rightFor({ method, path }: Asked): ForgeRight {
    if (path === '/users') return 'permissions';
    if (path.endsWith('/builds')) return 'status';
    return method === 'GET' ? 'read' : 'comment';
  }

  /** It says the same of a token that may not do something. */
  protected override refuseRight(): ForgeResponse {
    return this.refuseToken();
  }

  protected override refuseToken(): ForgeResponse {
    const message = 'You are not permitted to access this resource';
    return {
      status: 401,
      body: { errors: [{ context: null, message, exceptionName: 'AuthorisationException' }] },
    };
  }

  protected answer({ method, path, query, body }: Asked): ForgeResponse {
    if (path === '/application-properties')
      return { ...ok({ version: '9.4.0' }), headers: { 'x-ausername': encodeURIComponent(this.account) } };
    if (path === '/users') return page(this.#users(query), query);
    const rest = path.replace(BASE, '');
    if (rest === '/default-branch') return ok({ id: 'refs/heads/main', displayId: 'main' });
    if (rest === '/pull-requests')
      return page(
        this.openPulls.map((one) => this.#pullOf(one)),
        query,
      );
    const [, number, activities, comments, id, commit] =
      /^(?:\/pull-requests\/(\d+)(?:(\/activities)|(\/comments(?:\/(\d+))?))?|\/commits\/(\w+)\/builds)$/.exec(
        rest,
      ) ?? [];
    if (commit !== undefined) return this.#setStatus(commit, body);
    if (activities !== undefined) return page(this.#activities(Number(number)), query);
    if (id !== undefined) return this.#comment(this.find(id), method, query, body);
    if (comments !== undefined)
      return created(commentOf(this.write(Number(number), this.account, String(body.text))));
    const pull = this.pulls.get(Number(number));
    return pull === undefined ? MISSING : ok(this.#pullOf(pull));
  }

  #users(query: URLSearchParams): readonly object[] {
    const [right, filter] = [query.get('permission.1') ?? '', query.get('filter') ?? ''];
    const isOurs =
      query.get('permission.1.projectKey') === 'TEAM' && query.get('permission.1.repositorySlug') === 'fleet';
    // A filter that is not understood filters nothing.
    const have = isOurs ? (RIGHTS[right] ?? []) : ['none', 'read', 'write', 'admin'];
    return [...this.permissions]
      .filter(([name, permission]) => name.includes(filter) && have.includes(permission))
      .map(([name], at) => ({ id: at + 1, name, active: true }));
  }

  #activities(number: number): readonly object[] {
    const comments = this.comments.filter((one) => one.number === number);
    return [
      { id: 1, action: 'OPENED' },
      ...comments.map((one) => ({ id: one.id * 10, action: 'COMMENTED', comment: commentOf(one) })),
    ].toReversed();
  }

  #comment(
    comment: FakeComment | undefined,
    method: string,
    query: URLSearchParams,
    body: Asked['body'],
  ): ForgeResponse {
    if (comment === undefined) return MISSING;
    if (method === 'GET') return ok(commentOf(comment));
    const version = Number(query.get('version') ?? body.version);
    if (version !== comment.version || (method === 'DELETE' && comment.answered === true))
      return { status: 409, body: { errors: [{ message: 'out of date, or answered' }] } };
    return method === 'DELETE' ? this.remove(comment) : ok(commentOf(this.edit(comment, body.text)));
  }

  #setStatus(commit: string, { key, name, state, description, url }: Asked['body']): ForgeResponse {
    if (key === undefined || url === undefined) return { status: 400, body: { errors: [] } };
    const known = STATES[String(state)] ?? String(state);
    this.addStatus({ commit, context: String(name), state: known, description: String(description) });
    return { status: 204 };
  }

  /** Deliveries have no addresses, but where a test has its repository elsewhere. */
  #ref(branch: string, repository: number, commit?: string) {
    return {
      ...{ id: `refs/heads/${branch}`, displayId: branch, latestCommit: commit },
      repository: {
        ...{ id: repository, slug: 'fleet', project: { key: 'TEAM' } },
        ...(this.repositoryUrl.startsWith('/') && { links: { clone: [{ href: this.repositoryUrl }] } }),
      },
    };
  }

  #pullOf({ number, head, author = 'ada', base = 'main', fork, draft, state, merged }: FakePull) {
    return {
      id: number,
      version: 0,
      state: merged !== undefined ? 'MERGED' : state === 'closed' ? 'DECLINED' : 'OPEN',
      draft: draft === true,
      author: { user: { name: author, displayName: author } },
      title: 'Change',
      links: { self: [{ href: pageOf(number) }] },
      fromRef: this.#ref('change', fork === true ? 2 : 1, head),
      toRef: this.#ref(base, 1),
      ...(merged !== undefined && { properties: { mergeCommit: { id: merged } } }),
    };
  }
}

function page(all: readonly object[], query: URLSearchParams): ForgeResponse {
  const [start, limit] = [Number(query.get('start') ?? 0), Number(query.get('limit') ?? 25)];
  const isLastPage = start + limit >= all.length;
  const next = isLastPage ? null : start + limit;
  return ok({ values: all.slice(start, start + limit), isLastPage, nextPageStart: next });
}

function commentOf({ id, version, author, body }: FakeComment) {
  return { id, version, text: body, author: { name: author } };
}
