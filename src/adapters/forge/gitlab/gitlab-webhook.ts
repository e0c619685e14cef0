import { commitId } from '../event/event-fields.ts';
import type { WebhookEvent } from '../event/webhook-event.ts';
import type { ResponseFields } from '../request/response-fields.ts';

/**
 * Source: docs.gitlab.com/user/project/integrations/webhook_events.
 * @returns undefined if it is not a webhook event
 */
export function parseGitLab(payload: ResponseFields, event: string | undefined): WebhookEvent | undefined {
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
  if (event === 'Note Hook')
    return parseNote(payload, repositoryUrls) ?? { kind: 'other', event: 'Note Hook' };
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

/** A new comment on a merge request. Undefined for one elsewhere, for an edited one, and for a system note. */
function parseNote(payload: ResponseFields, repositoryUrls: readonly string[]): WebhookEvent | undefined {
  const [number, id] = [payload.number('merge_request', 'iid'), payload.number('object_attributes', 'id')];
  const [author, text] = [payload.text('user', 'username'), payload.text('object_attributes', 'note')];
  // Before 16.11 the payload has no action, and only new comments are delivered.
  const isNew = (payload.text('object_attributes', 'action') ?? 'create') === 'create';
  const isOnMergeRequest = payload.text('object_attributes', 'noteable_type') === 'MergeRequest';
  if (!isNew || !isOnMergeRequest || payload.at('object_attributes', 'system') === true) return undefined;
  if (number === undefined || id === undefined || author === undefined || text === undefined)
    return undefined;
  return { kind: 'comment', repositoryUrls, number, id: String(id), author, text };
}
