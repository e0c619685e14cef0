import { AzureForge } from './azure-devops/azure-forge.ts';
import { CloudForge } from './bitbucket/cloud-forge.ts';
import { DataCenterForge } from './bitbucket/data-center-forge.ts';
import type { PullRequestForge } from './contract/pull-request-forge.ts';
import { giteaForge, GitHubForge } from './github-like/github-like-forge.ts';
import { GitLabForge } from './gitlab/gitlab-forge.ts';
import type { ForgeRepository } from './request/forge-repository.ts';
import type { NamedAccount } from './request/own-account.ts';

/** @param ownAccount the account of the token, if the token itself cannot be used to find out (a GitHub App) */
export function openForge(repository: ForgeRepository, ownAccount?: NamedAccount): PullRequestForge {
  switch (repository.provider) {
    case 'gitea':
      return giteaForge(repository, ownAccount);
    case 'github':
      return new GitHubForge(repository, ownAccount);
    case 'gitlab':
      return new GitLabForge(repository, ownAccount);
    case 'bitbucket':
      return new CloudForge(repository, ownAccount);
    case 'bitbucket-data-center':
      return new DataCenterForge(repository, ownAccount);
    case 'azure-devops':
      return new AzureForge(repository, ownAccount);
  }
}
