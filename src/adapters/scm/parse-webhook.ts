import { headerOf } from './webhook-event.ts';
import type { WebhookEvent, WebhookHeaders, WebhookProvider } from './webhook-event.ts';

/** Reads an authentic webhook's body. Undefined when it is not what the provider sends. */
export function parseWebhook(
  provider: WebhookProvider,
  headers: WebhookHeaders,
  body: Buffer,
): WebhookEvent | undefined {
  const payload = parseJson(body);
  if (payload === undefined) return undefined;
  switch (provider) {
    case 'github':
      return parseGitHubLike(payload, headerOf(headers, 'x-github-event'));
    case 'gitea':
      return parseGitHubLike(
        payload,
        headerOf(headers, 'x-forgejo-event') ?? headerOf(headers, 'x-gitea-event'),
      );
    case 'gitlab':
      return parseGitLab(payload, headerOf(headers, 'x-gitlab-event'));
    case 'bitbucket':
      return parseBitbucket(payload, headerOf(headers, 'x-event-key'));
    case 'azure-devops':
      return parseAzure(payload);
    case 'generic':
      return parseGeneric(payload);
  }
}

/** JSON whose fields are asked for by path; what is missing or of another type is undefined. */
class Payload {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  at(...path: readonly (string | number)[]): unknown {
    let value = this.#value;
    for (const part of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
      value = (value as Record<string | number, unknown>)[part];
    }
    return value;
  }

  text(...path: readonly (string | number)[]): string | undefined {
    const value = this.at(...path);
    return typeof value === 'string' ? value : undefined;
  }

  texts(...paths: readonly (readonly (string | number)[])[]): string[] {
    return paths.map((path) => this.text(...path)).filter((text) => text !== undefined);
  }

  number(...path: readonly (string | number)[]): number | undefined {
    const value = this.at(...path);
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
  }
}

function parseJson(body: Buffer): Payload | undefined {
  if (body.length === 0) return new Payload({});
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? new Payload(value)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Full ids only: a short one (Bitbucket sends 12 digits) would be a guess. */
function commitId(text: string | undefined): string | undefined {
  return text !== undefined && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text) && !/^0+$/.test(text)
    ? text
    : undefined;
}

const OPEN_ACTIONS = new Set([
  'opened',
  'reopened',
  'synchronize',
  'synchronized',
  'ready_for_review',
  'edited',
]);

function parseGitHubLike(payload: Payload, event: string | undefined): WebhookEvent | undefined {
  const repositoryUrls = payload.texts(
    ['repository', 'clone_url'],
    ['repository', 'ssh_url'],
    ['repository', 'html_url'],
  );
  if (event === 'push')
    return {
      kind: 'push',
      repositoryUrls,
      ref: payload.text('ref'),
      commit: commitId(payload.text('after')),
    };
  if (event !== 'pull_request') return event === undefined ? undefined : { kind: 'other', event };
  const action = payload.text('action') ?? '';
  const number = payload.number('pull_request', 'number') ?? payload.number('number');
  if (number === undefined || (action !== 'closed' && !OPEN_ACTIONS.has(action)))
    return { kind: 'other', event: `${event} ${action}` };
  return {
    kind: 'pull-request',
    repositoryUrls,
    number,
    state: action === 'closed' ? 'closed' : 'open',
    head: {
      commit: commitId(payload.text('pull_request', 'head', 'sha')),
      branch: payload.text('pull_request', 'head', 'ref'),
    },
    base: { branch: payload.text('pull_request', 'base', 'ref') },
  };
}

function parseGitLab(payload: Payload, event: string | undefined): WebhookEvent | undefined {
  const repositoryUrls = payload.texts(
    ['project', 'git_http_url'],
    ['project', 'git_ssh_url'],
    ['project', 'web_url'],
  );
  if (event === 'Push Hook' || event === 'Tag Push Hook')
    return {
      kind: 'push',
      repositoryUrls,
      ref: payload.text('ref'),
      commit: commitId(payload.text('after')),
    };
  if (event !== 'Merge Request Hook') return event === undefined ? undefined : { kind: 'other', event };
  const action = payload.text('object_attributes', 'action') ?? '';
  const number = payload.number('object_attributes', 'iid');
  const closed = action === 'close' || action === 'merge';
  if (number === undefined || (!closed && !['open', 'reopen', 'update'].includes(action)))
    return { kind: 'other', event: `${event} ${action}` };
  return {
    kind: 'pull-request',
    repositoryUrls,
    number,
    state: closed ? 'closed' : 'open',
    head: {
      commit: commitId(payload.text('object_attributes', 'last_commit', 'id')),
      branch: payload.text('object_attributes', 'source_branch'),
    },
    base: { branch: payload.text('object_attributes', 'target_branch') },
  };
}

/** Bitbucket Cloud and Data Center share the header but not the body. */
function parseBitbucket(payload: Payload, event: string | undefined): WebhookEvent | undefined {
  if (event === undefined) return undefined;
  const repositoryUrls = bitbucketUrls(payload);
  if (event === 'repo:push')
    return {
      kind: 'push',
      repositoryUrls,
      ...bitbucketRef(
        onlyRef(payload, ['push', 'changes'], ['new', 'name']),
        payload.text('push', 'changes', 0, 'new', 'type'),
      ),
      commit: commitId(payload.text('push', 'changes', 0, 'new', 'target', 'hash')),
    };
  if (event === 'repo:refs_changed')
    return {
      kind: 'push',
      repositoryUrls,
      ref: onlyRef(payload, ['changes'], ['ref', 'id']),
      commit: commitId(payload.text('changes', 0, 'toHash')),
    };
  const cloud = payload.number('pullrequest', 'id');
  const number = cloud ?? payload.number('pullRequest', 'id');
  if (number === undefined) return { kind: 'other', event };
  return {
    kind: 'pull-request',
    repositoryUrls,
    number,
    state: /fulfilled|rejected|merged|declined|deleted/.test(event) ? 'closed' : 'open',
    head:
      cloud === undefined
        ? {
            commit: commitId(payload.text('pullRequest', 'fromRef', 'latestCommit')),
            branch: payload.text('pullRequest', 'fromRef', 'displayId'),
          }
        : {
            commit: commitId(payload.text('pullrequest', 'source', 'commit', 'hash')),
            branch: payload.text('pullrequest', 'source', 'branch', 'name'),
          },
    base: {
      branch:
        payload.text('pullrequest', 'destination', 'branch', 'name') ??
        payload.text('pullRequest', 'toRef', 'displayId'),
    },
  };
}

/** Where one delivery may report several refs: the ref, when it is the only one. */
function onlyRef(payload: Payload, list: readonly string[], place: readonly string[]): string | undefined {
  return payload.at(...list, 1) === undefined ? payload.text(...list, 0, ...place) : undefined;
}

function bitbucketRef(name: string | undefined, type: string | undefined): { ref?: string } {
  return name === undefined ? {} : { ref: `refs/${type === 'tag' ? 'tags' : 'heads'}/${name}` };
}

function bitbucketUrls(payload: Payload): string[] {
  const repositories = [['repository'], ['pullRequest', 'toRef', 'repository']];
  const urls = repositories.flatMap((path) => [
    payload.text(...path, 'links', 'html', 'href'),
    ...[0, 1].map((index) => payload.text(...path, 'links', 'clone', index, 'href')),
  ]);
  return urls.filter((url) => url !== undefined);
}

function parseAzure(payload: Payload): WebhookEvent | undefined {
  const event = payload.text('eventType');
  const repositoryUrls = payload.texts(
    ['resource', 'repository', 'remoteUrl'],
    ['resource', 'repository', 'sshUrl'],
    ['resource', 'repository', 'webUrl'],
  );
  if (event === 'git.push')
    return {
      kind: 'push',
      repositoryUrls,
      ref: onlyRef(payload, ['resource', 'refUpdates'], ['name']),
      commit: commitId(payload.text('resource', 'refUpdates', 0, 'newObjectId')),
    };
  const number = payload.number('resource', 'pullRequestId');
  if (event === undefined) return undefined;
  if (!event.startsWith('git.pullrequest.') || number === undefined) return { kind: 'other', event };
  const branch = (ref: string | undefined): string | undefined => ref?.replace(/^refs\/heads\//, '');
  return {
    kind: 'pull-request',
    repositoryUrls,
    number,
    state: payload.text('resource', 'status') === 'active' ? 'open' : 'closed',
    head: {
      commit: commitId(payload.text('resource', 'lastMergeSourceCommit', 'commitId')),
      branch: branch(payload.text('resource', 'sourceRefName')),
    },
    base: { branch: branch(payload.text('resource', 'targetRefName')) },
  };
}

/** `{"repository": URL, "ref": "refs/heads/main", "commit": id}`; all optional: an empty body means "look at everything". */
function parseGeneric(payload: Payload): WebhookEvent {
  return {
    kind: 'push',
    repositoryUrls: payload.texts(['repository']),
    ref: payload.text('ref'),
    commit: commitId(payload.text('commit')),
  };
}
