import { type WebhookEvent, commitId, onlyRef } from '../event/webhook-event.ts';
import type { ResponseFields } from '../request/response-fields.ts';

/** The kinds of events that are used, as the body names them, by the header of a hook of a project or group. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['Push Hook', 'push'],
  ['Tag Push Hook', 'tag_push'],
  ['Merge Request Hook', 'merge_request'],
  ['Note Hook', 'note'],
]);
/** A hook of the administrator, for all projects. Only the body says which event it is. */
const SYSTEM_HOOK = 'System Hook';

/**
 * Source: docs.gitlab.com/user/project/integrations/webhook_events; docs.gitlab.com/administration/system_hooks.
 * @returns undefined if it is not a webhook event
 */
export function parseGitLab(payload: ResponseFields, header: string | undefined): WebhookEvent | undefined {
  if (header === undefined) return undefined;
  const event = header === SYSTEM_HOOK ? `${header} ${kindInBody(payload) ?? ''}`.trimEnd() : header;
  const kind = header === SYSTEM_HOOK ? kindInBody(payload) : KINDS.get(header);
  const other = { kind: 'other', event } as const;
  const repositoryUrls = payload.texts(
    ['project', 'git_http_url'],
    ['project', 'git_ssh_url'],
    ['project', 'web_url'],
  );
  if (kind === 'push' || kind === 'tag_push')
    return {
      kind: 'push',
      repositoryUrls,
      ref: payload.text('ref'),
      commit: commitId(payload.text('after')),
    };
  if (kind === 'repository_update')
    return {
      kind: 'push',
      repositoryUrls,
      ref: onlyRef(payload, ['changes'], ['ref']),
      commit: commitId(payload.text('changes', 0, 'after')),
    };
  if (kind === 'note') return parseNote(payload, repositoryUrls) ?? other;
  if (kind !== 'merge_request') return other;
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

/** System Hooks name events in `event_name`; those that hooks of projects have, too, in `object_kind`. */
function kindInBody(payload: ResponseFields): string | undefined {
  return payload.text('object_kind') ?? payload.text('event_name');
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
