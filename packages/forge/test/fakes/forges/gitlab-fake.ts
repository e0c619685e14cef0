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

const ACTIONS = { opened: 'open', pushed: 'update', closed: 'close', merged: 'merge' } as const;
const LEVELS = { admin: 40, write: 30, read: 20, none: 0 } as const;

/**
 * GitLab with a project in nested groups. Source: docs.gitlab.com/api ("Merge requests", "Notes", "Commits", "Members", "Users"),
 * docs.gitlab.com/user/project/integrations/webhook_events.
 */
export class GitLabFake extends FakeForge {
  readonly provider = 'gitlab';
  readonly repository = 'platform/team/fleet';
  override repositoryUrl = 'https://gitlab.example/platform/team/fleet.git';

  pullDelivery(number: number, event: PullEvent, secret: string): RequestInit {
    const attributes = {
      ...{ iid: number, action: ACTIONS[event], source_branch: 'change', target_branch: 'main' },
      last_commit: { id: this.pulls.get(number)?.head },
    };
    return this.delivery('Merge Request Hook', { object_attributes: attributes }, secret);
  }

  commentDelivery({ id, number, author, body }: FakeComment, change: 'new' | 'edited', secret: string) {
    const action = change === 'new' ? 'create' : 'update';
    const attributes = { id, note: body, noteable_type: 'MergeRequest', action, system: false };
    const payload = {
      user: { username: author },
      object_attributes: attributes,
      merge_request: { iid: number },
    };
    return this.delivery('Note Hook', payload, secret);
  }

  delivery(event: string, payload: object, secret: string): RequestInit {
    const project = { git_http_url: this.repositoryUrl, path_with_namespace: this.repository };
    const headers = {
      'content-type': 'application/json',
      'x-gitlab-event': event,
      'x-gitlab-token': secret,
      'idempotency-key': String(this.nextId++),
      // Of one user's request; several deliveries have it.
      'x-gitlab-event-uuid': 'same',
    };
    return { method: 'POST', body: JSON.stringify({ project, ...payload }), headers };
  }

  protected rightFor({ method, path }: Asked): ForgeRight {
    if (path.includes('/members/')) return 'permissions';
    if (path.includes('/statuses')) return 'status';
    return method === 'GET' ? 'read' : 'comment';
  }

  protected override refuseToken(): ForgeResponse {
    return { status: 401, body: { error: 'invalid_token', error_description: 'Token is expired.' } };
  }

  protected answer(asked: Asked): ForgeResponse {
    const { method, query, body } = asked;
    if (asked.path === '/user') return ok({ id: 1, username: this.account });
    if (asked.path === '/users') return ok(this.#users(query.get('username') ?? ''));
    const path = asked.path.replace(`/projects/${this.repository}`, '');
    if (path === '') return ok({ id: 1, default_branch: 'main' });
    if (path === '/merge_requests') return ok(numbered(this.openPulls.map(mergeRequest), query, 'per_page'));
    const [, number, notes, note, emoji, member, commit, statusesOf] =
      /^(?:\/merge_requests\/(\d+)(\/notes(?:\/(\d+)(\/award_emoji)?)?)?|\/members\/all\/(\d+)|\/statuses\/(\w+)|\/repository\/commits\/(\w+)\/statuses)$/.exec(
        path,
      ) ?? [];
    if (member !== undefined) return this.#member(Number(member));
    if (commit !== undefined) return this.#setStatus(commit, body);
    if (statusesOf !== undefined) {
      const found = this.statusOf(statusesOf, query.get('name') ?? '');
      return ok(found === undefined ? [] : [{ name: found.context, status: found.state }]);
    }
    if (emoji !== undefined) return this.#award(this.find(note), String(body.name));
    if (note !== undefined) return this.#note(this.find(note), method, body.body);
    if (notes !== undefined && method === 'POST')
      return created(noteOf(this.write(Number(number), this.account, String(body.body))));
    if (notes !== undefined) {
      const all = this.comments.filter((one) => one.number === Number(number)).map(noteOf);
      return ok(numbered(all, query, 'per_page'));
    }
    const pull = this.pulls.get(Number(number));
    return pull === undefined ? MISSING : ok(mergeRequest(pull));
  }

  #users(name: string): readonly object[] {
    return this.permissions.has(name) ? [{ id: this.#idOf(name), username: name, state: 'active' }] : [];
  }

  #idOf(name: string): number {
    return [...this.permissions.keys()].indexOf(name) + 10;
  }

  #member(id: number): ForgeResponse {
    const [, permission] = [...this.permissions][id - 10] ?? [];
    if (permission === undefined || permission === 'none') return MISSING;
    return ok({ id, state: 'active', access_level: LEVELS[permission] });
  }

  /** As before GitLab 18.3: what is pending cannot become pending. */
  #setStatus(commit: string, body: Readonly<Record<string, unknown>>): ForgeResponse {
    const context = String(body.name);
    const isOnBranch = [...this.pulls.values()].every(({ head, fork }) => head !== commit || fork !== true);
    if (!isOnBranch && body.ref === undefined)
      return { status: 404, body: { message: '404 References for commit Not Found' } };
    if (body.state === 'pending' && this.statusOf(commit, context)?.state === 'pending')
      return { status: 400, body: { message: 'Cannot transition status via :enqueue from :pending' } };
    const state = body.state === 'failed' ? 'failure' : String(body.state);
    this.addStatus({ commit, context, state, description: String(body.description) });
    return created({ id: this.nextId++ });
  }

  #award(note: FakeComment | undefined, name: string): ForgeResponse {
    if (note === undefined) return MISSING;
    if (note.reactions.has(name))
      return { status: 404, body: { message: '404 Award Emoji Name has already been taken Not Found' } };
    note.reactions.add(name);
    return created({ name });
  }

  #note(note: FakeComment | undefined, method: string, text: unknown): ForgeResponse {
    if (note === undefined) return MISSING;
    if (method === 'DELETE') return this.remove(note);
    return ok(noteOf(method === 'PUT' ? this.edit(note, text) : note));
  }
}

function mergeRequest({ number, head, author = 'ada', base = 'main', fork, draft, state, merged }: FakePull) {
  return {
    id: number * 1000,
    iid: number,
    state: merged !== undefined ? 'merged' : state === 'closed' ? 'closed' : 'opened',
    draft: draft === true,
    author: { username: author },
    title: 'Change',
    web_url: pageOf(number),
    ...{
      source_project_id: fork === true ? 2 : 1,
      target_project_id: 1,
      target_branch: base,
      sha: head === '' ? null : head,
    },
    ...{ merge_commit_sha: merged ?? null, squash_commit_sha: null },
  };
}

function noteOf({ id, author, body }: FakeComment) {
  return { id, body, author: { username: author }, system: false };
}
