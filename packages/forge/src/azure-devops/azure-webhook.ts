import { type WebhookEvent, branchOfRef, commitId, onlyRef } from '../event/webhook-event.ts';
import type { ResponseFields } from '../request/response-fields.ts';

const COMMENT = 'ms.vss-code.git-pullrequest-comment-event';

/**
 * Service hooks of Azure DevOps. Source: learn.microsoft.com/azure/devops/service-hooks/events.
 * @returns undefined if it is not an event
 */
export function parseAzure(payload: ResponseFields): WebhookEvent | undefined {
  const event = payload.text('eventType');
  if (event === 'git.push')
    return {
      kind: 'push',
      repositoryUrls: urlsOf(payload, ['resource', 'repository']),
      ref: onlyRef(payload, ['resource', 'refUpdates'], ['name']),
      commit: commitId(payload.text('resource', 'refUpdates', 0, 'newObjectId')),
    };
  if (event === COMMENT) return parseComment(payload) ?? { kind: 'other', event };
  const number = payload.number('resource', 'pullRequestId');
  if (event === undefined) return undefined;
  if (!event.startsWith('git.pullrequest.') || number === undefined) return { kind: 'other', event };
  return {
    kind: 'pull-request',
    repositoryUrls: urlsOf(payload, ['resource', 'repository']),
    number,
    state: payload.text('resource', 'status') === 'active' ? 'open' : 'closed',
    head: {
      commit: commitId(payload.text('resource', 'lastMergeSourceCommit', 'commitId')),
      branch: branchOfRef(payload.text('resource', 'sourceRefName')),
    },
    base: { branch: branchOfRef(payload.text('resource', 'targetRefName')) },
  };
}

/**
 * A new comment. Undefined for an edited or deleted one, for a system comment, and for version 1.0 of the event, which
 * does not name the pull request.
 */
function parseComment(payload: ResponseFields): WebhookEvent | undefined {
  const comment = (...path: readonly string[]) => payload.text('resource', 'comment', ...path);
  const number = payload.number('resource', 'pullRequest', 'pullRequestId');
  const id = payload.number('resource', 'comment', 'id');
  const [author, text] = [comment('author', 'id'), comment('content')];
  const changed = comment('lastContentUpdatedDate') ?? comment('lastUpdatedDate');
  const isNew = comment('publishedDate') === changed;
  const isDeleted = payload.at('resource', 'comment', 'isDeleted') === true;
  if (!isNew || isDeleted || comment('commentType') === 'system') return undefined;
  if (number === undefined || id === undefined || author === undefined || text === undefined)
    return undefined;
  return {
    kind: 'comment',
    repositoryUrls: urlsOf(payload, ['resource', 'pullRequest', 'repository']),
    ...{ number, id: String(id), author, text },
    authorName: comment('author', 'displayName'),
  };
}

function urlsOf(payload: ResponseFields, repository: readonly string[]): string[] {
  return payload.texts([...repository, 'remoteUrl'], [...repository, 'sshUrl'], [...repository, 'webUrl']);
}
