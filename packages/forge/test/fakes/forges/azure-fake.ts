import type { RepositoryPermission } from '../../../src/contract/pull-request-forge.ts';
import type { ForgeResponse } from '../forge-server.ts';
import {
  type Asked,
  type FakeComment,
  FakeForge,
  type FakePull,
  type ForgeRight,
  MISSING,
  ok,
  type PullEvent,
} from './fake-forge.ts';

const EVENTS = { opened: 'created', pushed: 'updated', closed: 'updated', merged: 'updated' } as const;
const STATES: Readonly<Record<string, string>> = { succeeded: 'success', failed: 'failure', error: 'error' };
const GIT = '2e9eb7ed-3c0a-47d4-87c1-0ffdaa275f87';
const BASE = '/org/project/_apis/git/repositories/fleet';

/** Bits of the rights, and which list gives them: the repository's, its project's, that of all. */
const GRANTS: Readonly<Record<RepositoryPermission, readonly (readonly [string, number, number])[]>> = {
  // Refused to the group nearer than it is granted.
  none: [
    ['repoV2/p1/r1', 0, 2 + 4 + 8192],
    ['repoV2/p1', 2 + 4, 0],
  ],
  read: [['repoV2', 2, 0]],
  write: [
    ['repoV2/p1', 2 + 4, 0],
    ['repoV2', 0, 4],
  ],
  admin: [['repoV2/p1/r1', 2 + 4 + 8192, 0]],
};

/**
 * Azure DevOps. Source: learn.microsoft.com/rest/api/azure/devops ("Pull Requests", "Pull Request Threads", "Pull Request Statuses",
 * "Access Control Lists", "Identities"), learn.microsoft.com/azure/devops/service-hooks/events.
 */
export class AzureFake extends FakeForge {
  readonly provider = 'azure-devops';
  readonly repository = 'org/project/fleet';
  override repositoryUrl = 'https://dev.azure.com/org/project/_git/fleet';

  override accountId(name: string): string {
    return `id-of-${name}`;
  }

  pullDelivery(number: number, event: PullEvent, secret: string): RequestInit {
    const pull = this.pulls.get(number);
    const described = pull === undefined ? { pullRequestId: number } : this.#pullOf(pull);
    // At GitHub a delivery says that it was closed; here the pull request is as it is now.
    const status = event === 'merged' ? 'completed' : event === 'closed' ? 'abandoned' : 'active';
    const resource = { ...described, status, repository: { remoteUrl: this.repositoryUrl } };
    return this.delivery(`git.pullrequest.${EVENTS[event]}`, resource, secret);
  }

  commentDelivery({ id, number, author, body }: FakeComment, change: 'new' | 'edited', secret: string) {
    const written = '2026-03-01T12:00:00Z';
    const resource = {
      comment: {
        ...{ id, content: body, commentType: 'text', publishedDate: written },
        lastContentUpdatedDate: change === 'new' ? written : '2026-03-01T12:05:00Z',
        author: { id: this.accountId(author), displayName: author },
      },
      pullRequest: { pullRequestId: number, repository: { remoteUrl: this.repositoryUrl } },
    };
    return this.delivery('ms.vss-code.git-pullrequest-comment-event', resource, secret);
  }

  delivery(eventType: string, resource: object, secret: string): RequestInit {
    const headers = {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`berth:${secret}`).toString('base64')}`,
    };
    const id = `event-${this.nextId++}`;
    const body = JSON.stringify({ id, eventType, resourceVersion: '2.0', resource });
    return { method: 'POST', body, headers };
  }

  protected rightFor({ method, path }: Asked): ForgeRight {
    if (path.includes('/accesscontrollists/')) return 'permissions';
    if (path.endsWith('/statuses')) return 'status';
    return method === 'GET' ? 'read' : 'comment';
  }

  protected answer(asked: Asked): ForgeResponse {
    const { method, path, query, body } = asked;
    if (query.get('api-version')?.startsWith('7.1') !== true)
      return { status: 400, body: { message: 'no api-version' } };
    if (path === '/org/_apis/connectionData')
      return ok({ authenticatedUser: { id: this.accountId(this.account) } });
    if (path === '/org/_apis/identities') return list(this.#identities(query));
    if (path === `/org/_apis/accesscontrollists/${GIT}`) return list(this.#access(query.get('token') ?? ''));
    const rest = path.replace(BASE, '');
    if (rest === '') return ok({ id: 'r1', project: { id: 'p1' }, defaultBranch: 'refs/heads/main' });
    if (rest === '/pullrequests') {
      const [top, skip] = [Number(query.get('$top') ?? 100), Number(query.get('$skip') ?? 0)];
      return list(this.openPulls.slice(skip, skip + top).map((one) => this.#pullOf(one)));
    }
    const [, number, part, thread, commit] =
      /^(?:\/pull[rR]equests\/(\d+)(?:\/(iterations|statuses|threads)(?:\/(\d+)\/comments\/1)?)?|\/commits\/(\w+)\/statuses)$/.exec(
        rest,
      ) ?? [];
    if (commit !== undefined) return this.#setStatus(commit, body);
    const pull = this.pulls.get(Number(number));
    if (thread !== undefined) return this.#comment(this.find(thread), method, body);
    if (part === 'threads')
      return method === 'POST' ? this.#newThread(Number(number), body) : list(this.#threads(Number(number)));
    if (pull === undefined) return MISSING;
    if (part === 'iterations') return list([{ id: 3, sourceRefCommit: { commitId: pull.head } }]);
    if (part === undefined) return ok(this.#pullOf(pull));
    return body.iterationId === 3
      ? this.#setStatus(pull.head, body)
      : { status: 400, body: { message: 'iterationId' } };
  }

  /** An account is in a group by way of another group. */
  #identities(query: URLSearchParams): readonly object[] {
    const found = (query.get('descriptors') ?? '').split(',').flatMap((descriptor) => {
      const [, kind, name] = /^(team|group);(.+)$/.exec(descriptor) ?? [];
      if (name === undefined) return [];
      return [{ descriptor, isActive: true, memberOf: kind === 'team' ? [`group;${name}`] : [] }];
    });
    const account = [...this.permissions.keys()].find(
      (name) => this.accountId(name) === query.get('identityIds'),
    );
    if (account === undefined) return found;
    return [...found, { descriptor: `user;${account}`, isActive: true, memberOf: [`team;${account}`] }];
  }

  #access(token: string): readonly object[] {
    const entries = [...this.permissions].flatMap(([name, permission]) =>
      GRANTS[permission]
        .filter(([place]) => place === token)
        .map(([, allow, deny]) => [`group;${name}`, { descriptor: `group;${name}`, allow, deny }] as const),
    );
    return [{ token, inheritPermissions: true, acesDictionary: Object.fromEntries(entries) }];
  }

  #newThread(number: number, body: Asked['body']): ForgeResponse {
    const [comment] = body.comments as readonly { readonly content: string }[];
    return ok(this.#threadOf(this.write(number, this.account, comment?.content ?? '')));
  }

  #threads(number: number): readonly object[] {
    const comments = this.comments.filter((one) => one.number === number);
    return comments.map((one) => this.#threadOf(one));
  }

  #threadOf({ id, author, body }: FakeComment) {
    const comment = { id: 1, content: body, author: { id: this.accountId(author) }, commentType: 'text' };
    return { id, isDeleted: false, status: 'closed', comments: [comment] };
  }

  #comment(comment: FakeComment | undefined, method: string, body: Asked['body']): ForgeResponse {
    if (comment === undefined) return MISSING;
    if (method === 'DELETE') return { ...this.remove(comment), status: 200 };
    return ok({ id: 1, content: this.edit(comment, body.content).body });
  }

  #setStatus(commit: string, { context, state, description }: Asked['body']): ForgeResponse {
    const { genre, name } = context as { readonly genre: string; readonly name: string };
    const known = STATES[String(state)] ?? String(state);
    this.addStatus({ commit, context: `${genre}/${name}`, state: known, description: String(description) });
    return ok({});
  }

  #pullOf({ number, head, author = 'ada', base = 'main', fork, draft, state, merged }: FakePull) {
    return {
      pullRequestId: number,
      status: merged !== undefined ? 'completed' : state === 'closed' ? 'abandoned' : 'active',
      isDraft: draft === true,
      createdBy: { id: this.accountId(author), displayName: author },
      title: 'Change',
      repository: { webUrl: 'https://forge.test/team/_git/fleet' },
      sourceRefName: 'refs/heads/change',
      targetRefName: `refs/heads/${base}`,
      ...(head !== '' && { lastMergeSourceCommit: { commitId: head } }),
      ...(merged !== undefined && { lastMergeCommit: { commitId: merged } }),
      ...(fork === true && { forkSource: { repository: { id: 'r2' } } }),
    };
  }
}

function list(value: readonly object[]): ForgeResponse {
  return ok({ count: value.length, value });
}
