import { describe, expect, it } from 'vitest';
import { forgeOfUrl } from '../src/forge-of-url.ts';

describe('what the URL of a repository tells of the API of its forge', () => {
  it.each([
    ['github', 'https://github.com/acme/fleet.git', 'https://api.github.com', 'acme/fleet'],
    ['github', 'git@github.com:acme/fleet.git', 'https://api.github.com', 'acme/fleet'],
    ['github', 'ssh://git@ghe.example.org:2222/acme/fleet/', 'https://ghe.example.org/api/v3', 'acme/fleet'],
    [
      'gitlab',
      'https://gitlab.example.org:8443/g/sub/fleet.git',
      'https://gitlab.example.org:8443/api/v4',
      'g/sub/fleet',
    ],
    [
      'gitlab',
      'https://gitlab.example.org/100%/fleet.git',
      'https://gitlab.example.org/api/v4',
      '100%/fleet',
    ],
    ['gitea', 'gitea.example.org:acme/fleet', 'https://gitea.example.org/api/v1', 'acme/fleet'],
    ['gitea', 'http://127.0.0.1:3000/acme/fleet.git', 'http://127.0.0.1:3000/api/v1', 'acme/fleet'],
    ['gitea', 'http://[::1]:3000/acme/fleet.git', 'http://[::1]:3000/api/v1', 'acme/fleet'],
    ['gitea', 'http://git.example.org:3000/acme/fleet', 'https://git.example.org:3000/api/v1', 'acme/fleet'],
    ['bitbucket', 'https://bitbucket.org/acme/fleet', 'https://api.bitbucket.org/2.0', 'acme/fleet'],
    [
      'azure-devops',
      'https://dev.azure.com/org/My%20project/_git/fleet',
      'https://dev.azure.com',
      'org/My project/fleet',
    ],
    [
      'azure-devops',
      'git@ssh.dev.azure.com:v3/org/project/fleet',
      'https://dev.azure.com',
      'org/project/fleet',
    ],
  ] as const)('%s at %s', (provider, url, apiUrl, repository) =>
    expect(forgeOfUrl(provider, url)).toEqual({ apiUrl, repository }),
  );

  it.each([
    ['github', '/srv/git/fleet.git'],
    ['github', './fleet'],
    ['github', 'https://github.com/'],
    // Data Center has another API than Cloud.
    ['bitbucket', 'https://stash.example.org/scm/acme/fleet.git'],
  ] as const)('nothing of %s at %s', (provider, url) => expect(forgeOfUrl(provider, url)).toBeUndefined());
});
