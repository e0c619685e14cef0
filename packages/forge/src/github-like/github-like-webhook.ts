import { type WebhookEvent, branchOfRef, commitId } from '../event/webhook-event.ts';
import type { ResponseFields } from '../request/response-fields.ts';

/** Actions after which a pull request is open. GitHub writes `synchronize`, Gitea `synchronized`. */
const OPEN_ACTIONS = new Set([
  'opened',
  'reopened',
  'synchronize',
  'synchronized',
  'ready_for_review',
  'edited',
]);

/**
 * Source: docs.github.com/webhooks/webhook-events-and-payloads; docs.gitea.com/usage/webhooks, with similar bodies.
 * @returns undefined if it is not a webhook event
 */
export function parseGitHubLike(
  payload: ResponseFields,
  event: string | undefined,
): WebhookEvent | undefined {
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
  if (event === 'create' || event === 'delete')
    return { kind: 'push', repositoryUrls, ref: createdRef(payload), commit: undefined };
  const action = payload.text('action') ?? '';
  const other = { kind: 'other', event: `${event} ${action}` } as const;
  if (event === 'issue_comment') return parseGitHubLikeComment(payload, repositoryUrls) ?? other;
  if (event === 'merge_group') return parseMergeGroup(payload, repositoryUrls) ?? other;
  if (event !== 'pull_request') return event === undefined ? undefined : { kind: 'other', event };
  const number = payload.number('pull_request', 'number') ?? payload.number('number');
  if (number === undefined || (action !== 'closed' && !OPEN_ACTIONS.has(action))) return other;
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

/** The full ref of a branch or tag that was created or deleted. */
function createdRef(payload: ResponseFields): string | undefined {
  const [ref, type] = [payload.text('ref'), payload.text('ref_type')];
  if (ref === undefined || ref.startsWith('refs/')) return ref;
  return type === 'branch' || type === 'tag' ? `refs/${type === 'tag' ? 'tags' : 'heads'}/${ref}` : undefined;
}

/** A new comment on a pull request. Undefined for one on an issue, and for an edited one. */
function parseGitHubLikeComment(
  payload: ResponseFields,
  repositoryUrls: readonly string[],
): WebhookEvent | undefined {
  const [number, id] = [payload.number('issue', 'number'), payload.number('comment', 'id')];
  const [author, text] = [payload.text('comment', 'user', 'login'), payload.text('comment', 'body')];
  const pull = payload.at('issue', 'pull_request');
  const isOnPullRequest = payload.at('is_pull') === true || (typeof pull === 'object' && pull !== null);
  if (payload.text('action') !== 'created' || !isOnPullRequest) return undefined;
  if (number === undefined || id === undefined || author === undefined || text === undefined)
    return undefined;
  return { kind: 'comment', repositoryUrls, number, id: String(id), author, text };
}

/** A group of the merge queue that needs checks. Undefined for one that was destroyed. */
function parseMergeGroup(
  payload: ResponseFields,
  repositoryUrls: readonly string[],
): WebhookEvent | undefined {
  const [head, base] = [
    commitId(payload.text('merge_group', 'head_sha')),
    commitId(payload.text('merge_group', 'base_sha')),
  ];
  const baseBranch = branchOfRef(payload.text('merge_group', 'base_ref'));
  if (payload.text('action') !== 'checks_requested') return undefined;
  if (head === undefined || base === undefined || baseBranch === undefined) return undefined;
  return { kind: 'merge-group', repositoryUrls, head, base, baseBranch };
}
