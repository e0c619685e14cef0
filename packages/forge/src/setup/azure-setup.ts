import {
  API_VERSION,
  AZURE_DIALECT,
  azureParts,
  azureRepositoryPath,
} from '../azure-devops/azure-dialect.ts';
import { ForgeApi } from '../request/forge-api.ts';
import type { ForgeRepository } from '../request/forge-repository.ts';
import { ResponseFields } from '../request/response-fields.ts';
import type { ForgeSetup, ForgeWebhook } from './forge-setup.ts';

/** The version of its payload for each event. */
const EVENTS = {
  'git.push': '1.0',
  'git.pullrequest.created': '1.0',
  'git.pullrequest.updated': '1.0',
  'ms.vss-code.git-pullrequest-comment-event': '2.0',
} as const;

interface Subscription {
  readonly id: string;
  readonly event: string;
  readonly url: string;
  readonly isEnabled: boolean;
  readonly repositoryId: string | undefined;
}

/**
 * Azure DevOps, which has one subscription for each event. A personal access token only its owner creates.
 * Source: learn.microsoft.com/rest/api/azure/devops/hooks/subscriptions.
 */
export function azureSetup(repository: ForgeRepository): ForgeSetup {
  const api = new ForgeApi(repository, AZURE_DIALECT);
  const path = `/${azureParts(repository.repository).organisation}/_apis/hooks/subscriptions`;
  const list = async (signal: AbortSignal): Promise<readonly Subscription[]> => {
    const query = `publisherId=tfs&consumerId=webHooks&${API_VERSION}`;
    const answered = await api.request(signal, 'GET', `${path}?${query}`);
    return new ResponseFields(answered.at('value')).list(api.subject).flatMap((item) => {
      const [id, event, url] = [item.text('id'), item.text('eventType'), item.text('consumerInputs', 'url')];
      if (id === undefined || event === undefined || url === undefined) return [];
      const repositoryId = item.text('publisherInputs', 'repository');
      return [{ id, event, url, isEnabled: item.text('status') === 'enabled', repositoryId }];
    });
  };
  const ids = async (signal: AbortSignal): Promise<{ repositoryId: string; projectId: string }> => {
    const about = `${azureRepositoryPath(repository.repository)}?${API_VERSION}`;
    const found = await api.request(signal, 'GET', about);
    const [repositoryId, projectId] = [found.text('id'), found.text('project', 'id')];
    if (repositoryId === undefined || projectId === undefined) throw api.badResponse('names no repository');
    return { repositoryId, projectId };
  };
  return {
    events: Object.keys(EVENTS),
    webhooks: async (signal) => {
      const { repositoryId } = await ids(signal);
      const own = (await list(signal)).filter((one) => one.repositoryId === repositoryId);
      return [...new Set(own.map(({ url }) => url))].map((url) =>
        together(
          url,
          own.filter((one) => one.url === url),
        ),
      );
    },
    writeWebhook: async ({ url, secret }, signal) => {
      const { repositoryId, projectId } = await ids(signal);
      const known = (await list(signal)).filter(
        (one) => one.url === url && one.repositoryId === repositoryId,
      );
      for (const [event, resourceVersion] of Object.entries(EVENTS)) {
        const id = known.find((one) => one.event === event)?.id;
        await api.request(
          signal,
          id === undefined ? 'POST' : 'PUT',
          `${path}${id === undefined ? '' : `/${id}`}?${API_VERSION}`,
          {
            ...{ publisherId: 'tfs', eventType: event, resourceVersion },
            ...{ consumerId: 'webHooks', consumerActionId: 'httpRequest' },
            publisherInputs: { projectId, repository: repositoryId },
            // The user name does not matter; a signature of the body is not possible.
            consumerInputs: { url, basicAuthUsername: 'berth', basicAuthPassword: secret },
          },
        );
      }
    },
    scopes: async () => undefined,
    neededScopes: [],
    tokenByHand:
      'the account creates a personal access token: Code (read, status), Pull Request Threads (read and write), Identity (read), Security (manage)',
    protectionByHand: 'Project settings, Repositories, Policies of the branch: add a status policy',
  };
}

/** The subscriptions with one address as one webhook. */
function together(url: string, all: readonly Subscription[]): ForgeWebhook {
  return {
    ...{ id: all.map(({ id }) => id).join(' '), url },
    isActive: all.every(({ isEnabled }) => isEnabled),
    events: all.map(({ event }) => event),
  };
}
