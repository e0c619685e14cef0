import type { ForgeRepository } from '../request/forge-repository.ts';
import { azureSetup } from './azure-setup.ts';
import { bitbucketCloudSetup, bitbucketDataCenterSetup } from './bitbucket-setup.ts';
import type { ForgeSetup } from './forge-setup.ts';
import { giteaSetup, githubSetup } from './github-like-setup.ts';
import { gitlabSetup } from './gitlab-setup.ts';

/** @param repository with the token of somebody who administers it */
export function openSetup(repository: ForgeRepository): ForgeSetup {
  switch (repository.provider) {
    case 'gitea':
      return giteaSetup(repository);
    case 'github':
      return githubSetup(repository);
    case 'gitlab':
      return gitlabSetup(repository);
    case 'bitbucket':
      return bitbucketCloudSetup(repository);
    case 'bitbucket-data-center':
      return bitbucketDataCenterSetup(repository);
    case 'azure-devops':
      return azureSetup(repository);
  }
}

/** The part of the address of Berth that the webhooks of a forge call. */
export function webhookPath(provider: ForgeRepository['provider']): string {
  return `/webhooks/${provider === 'bitbucket-data-center' ? 'bitbucket' : provider}`;
}
