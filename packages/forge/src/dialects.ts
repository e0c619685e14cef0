import { AZURE_DIALECT } from './azure-devops/azure-dialect.ts';
import { BITBUCKET_CLOUD_DIALECT, BITBUCKET_DATA_CENTER_DIALECT } from './bitbucket/bitbucket-dialect.ts';
import { GITHUB_DIALECT, GITEA_DIALECT } from './github-like/github-like-dialects.ts';
import { GITLAB_DIALECT } from './gitlab/gitlab-dialect.ts';
import type { ForgeDialect } from './request/forge-dialect.ts';
import type { ForgeProvider } from './request/forge-repository.ts';

export const FORGE_DIALECTS: Readonly<Record<ForgeProvider, ForgeDialect>> = {
  gitea: GITEA_DIALECT,
  github: GITHUB_DIALECT,
  gitlab: GITLAB_DIALECT,
  bitbucket: BITBUCKET_CLOUD_DIALECT,
  'bitbucket-data-center': BITBUCKET_DATA_CENTER_DIALECT,
  'azure-devops': AZURE_DIALECT,
};
