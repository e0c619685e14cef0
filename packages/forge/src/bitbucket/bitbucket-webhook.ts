import { type WebhookEvent, commitId, onlyRef } from '../event/webhook-event.ts';
import type { ResponseFields } from '../request/response-fields.ts';

/**
 * Bitbucket Cloud and Data Center share the header but not the body.
 * Source: support.atlassian.com/bitbucket-cloud/docs/event-payloads; confluence.atlassian.com/bitbucketserver/event-payload.
 * @returns undefined if it is not a webhook event
 */
export function parseBitbucket(payload: ResponseFields, event: string | undefined): WebhookEvent | undefined {
  if (event === undefined) return undefined;
  const repository = { repositoryUrls: urlsOf(payload), repositoryName: nameOf(payload) };
  if (event === 'repo:push') return { kind: 'push', ...repository, ...cloudPush(payload) };
  if (event === 'repo:refs_changed')
    return {
      kind: 'push',
      ...repository,
      ref: onlyRef(payload, ['changes'], ['ref', 'id']),
      commit: commitId(payload.text('changes', 0, 'toHash')),
    };
  const cloud = payload.number('pullrequest', 'id');
  const number = cloud ?? payload.number('pullRequest', 'id');
  if (number === undefined) return { kind: 'other', event };
  if (event.includes('comment')) {
    const comment = cloud === undefined ? dataCenterComment(payload, event) : cloudComment(payload, event);
    return comment === undefined
      ? { kind: 'other', event }
      : { kind: 'comment', ...repository, number, ...comment };
  }
  return {
    kind: 'pull-request',
    ...repository,
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

function cloudPush(payload: ResponseFields) {
  // A deleted branch or tag has no new state.
  const state = payload.text('push', 'changes', 0, 'new', 'name') === undefined ? 'old' : 'new';
  const name = onlyRef(payload, ['push', 'changes'], [state, 'name']);
  const folder = payload.text('push', 'changes', 0, state, 'type') === 'tag' ? 'tags' : 'heads';
  return {
    ...(name !== undefined && { ref: `refs/${folder}/${name}` }),
    commit: commitId(payload.text('push', 'changes', 0, 'new', 'target', 'hash')),
  };
}

function cloudComment(payload: ResponseFields, event: string) {
  const id = payload.number('comment', 'id');
  // The uuid identifies the author: names are not unique, and nicknames change.
  const [author, text] = [payload.text('actor', 'uuid'), payload.text('comment', 'content', 'raw')];
  if (event !== 'pullrequest:comment_created') return undefined;
  if (id === undefined || author === undefined || text === undefined) return undefined;
  return { id: String(id), author, authorName: payload.text('actor', 'display_name'), text };
}

function dataCenterComment(payload: ResponseFields, event: string) {
  const [id, author] = [payload.number('comment', 'id'), payload.text('actor', 'name')];
  const text = payload.text('comment', 'text');
  if (event !== 'pr:comment:added') return undefined;
  if (id === undefined || author === undefined || text === undefined) return undefined;
  return { id: String(id), author, text };
}

const REPOSITORIES = [['repository'], ['pullRequest', 'toRef', 'repository']] as const;

function urlsOf(payload: ResponseFields): string[] {
  const urls = REPOSITORIES.flatMap((path) => [
    payload.text(...path, 'links', 'html', 'href'),
    ...[0, 1].map((index) => payload.text(...path, 'links', 'clone', index, 'href')),
  ]);
  return urls.filter((url) => url !== undefined);
}

/** Data Center sends addresses only if its administrator enabled them. */
function nameOf(payload: ResponseFields): string | undefined {
  const [path] = REPOSITORIES.filter((one) => payload.text(...one, 'slug') !== undefined);
  if (path === undefined) return undefined;
  const [project, slug] = [payload.text(...path, 'project', 'key'), payload.text(...path, 'slug')];
  return project === undefined || slug === undefined ? undefined : `${project}/${slug}`;
}
