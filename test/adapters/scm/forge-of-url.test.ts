import { describe, expect, it } from 'vitest';
import { forgeOfUrl } from '../../../src/adapters/scm/forge-of-url.ts';

describe('what the URL of a repository tells of the API of its forge', () => {
  it.each([
    {
      provider: 'github',
      url: 'https://github.com/acme/fleet.git',
      want: { apiUrl: 'https://api.github.com', repository: 'acme/fleet' },
    },
    {
      provider: 'github',
      url: 'git@github.com:acme/fleet.git',
      want: { apiUrl: 'https://api.github.com', repository: 'acme/fleet' },
    },
    {
      provider: 'github',
      url: 'ssh://git@ghe.example.org:2222/acme/fleet/',
      want: { apiUrl: 'https://ghe.example.org/api/v3', repository: 'acme/fleet' },
    },
    {
      provider: 'gitlab',
      url: 'https://gitlab.example.org:8443/group/sub/fleet.git',
      want: { apiUrl: 'https://gitlab.example.org:8443/api/v4', repository: 'group/sub/fleet' },
    },
    {
      provider: 'gitea',
      url: 'gitea.example.org:acme/fleet',
      want: { apiUrl: 'https://gitea.example.org/api/v1', repository: 'acme/fleet' },
    },
    {
      provider: 'bitbucket',
      url: 'https://bitbucket.org/acme/fleet',
      want: { apiUrl: 'https://api.bitbucket.org/2.0', repository: 'acme/fleet' },
    },
    {
      provider: 'bitbucket',
      url: 'https://stash.example.org/scm/acme/fleet.git',
      want: undefined,
    },
    {
      provider: 'azure-devops',
      url: 'https://dev.azure.com/org/My%20project/_git/fleet',
      want: { apiUrl: 'https://dev.azure.com', repository: 'org/My project/fleet' },
    },
    {
      provider: 'azure-devops',
      url: 'git@ssh.dev.azure.com:v3/org/project/fleet',
      want: { apiUrl: 'https://dev.azure.com', repository: 'org/project/fleet' },
    },
    {
      provider: 'gitlab',
      url: 'https://gitlab.example.org/100%/fleet.git',
      want: { apiUrl: 'https://gitlab.example.org/api/v4', repository: '100%/fleet' },
    },
    { provider: 'github', url: '/srv/git/fleet.git', want: undefined },
    { provider: 'github', url: './fleet', want: undefined },
    { provider: 'github', url: 'https://github.com/', want: undefined },
  ] as const)('$provider: $url', ({ provider, url, want }) =>
    expect(forgeOfUrl(provider, url)).toEqual(want),
  );
});
