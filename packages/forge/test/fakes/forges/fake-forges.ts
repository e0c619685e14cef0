import type { ForgeProvider } from '../../../src/request/forge-repository.ts';
import { AzureFake } from './azure-fake.ts';
import { BitbucketCloudFake } from './bitbucket-cloud-fake.ts';
import { BitbucketDataCenterFake } from './bitbucket-data-center-fake.ts';
import type { FakeForge } from './fake-forge.ts';
import { GiteaFake } from './gitea-fake.ts';
import { GitHubFake } from './github-fake.ts';
import { GitLabFake } from './gitlab-fake.ts';

/** A fake of every forge: a new forge without one does not compile. */
export const FAKE_FORGES: Readonly<Record<ForgeProvider, () => FakeForge>> = {
  gitea: () => new GiteaFake(),
  github: () => new GitHubFake(),
  gitlab: () => new GitLabFake(),
  bitbucket: () => new BitbucketCloudFake(),
  'bitbucket-data-center': () => new BitbucketDataCenterFake(),
  'azure-devops': () => new AzureFake(),
};
