import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readSettings } from '../../../src/app/settings/read-settings.ts';
import { serveSource } from '../../../src/app/settings/serve-source.ts';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';

const dir = mkdtempSync(path.join(tmpdir(), 'berth-settings-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const file = path.join(dir, 'sources.yaml');
const read = (text: string) => {
  writeFileSync(file, text);
  return readSettings(file);
};
const context = { api: new FakeKubeApi(), dataDir: dir, nowMs: () => 0 };

const WHOLE = `# What the platform team follows
sources:
  - name: fleet
    url: https://github.com/team/fleet.git
    ref: {branch: main}
    paths: [fleet, '!fleet/old']
    credentials: {secretRef: {name: git, namespace: berth}}
    signatures: {mode: HEAD, allowedSignersFile: signers}
    commitStatus: {provider: github, targetUrl: 'https://berth.example/'}
  - name: releases
    url: git@gitlab.example:group/sub/releases.git
    ref: {semver: ^1.2}
    credentials: {sshKeyFile: keys/id, knownHostsFile: /etc/berth/known_hosts}
    signatures: {mode: TagAndHEAD, gpgKeysFile: keys.asc}
    commitStatus: {provider: gitlab, credentials: {tokenFile: token}}
    sync: observe
  - name: apps
    url: https://git.example/apps
    ref: {commit: "${'a'.repeat(40)}"}
    credentials: {githubApp: {appId: 42, installationId: "7", privateKeyFile: app.pem}}
    caFile: ca.pem
    force: true
    onConflict: report
    removalBudget: 10%
    deletionWindow: 1h30m
    allowEmpty: true
`;

describe('the settings file', () => {
  it.each([
    ['gitlab', 'https://gitlab.example/platform/team/fleet.git', 'platform/team/fleet'],
    ['bitbucket', 'https://bitbucket.org/team/fleet', 'team/fleet'],
    ['bitbucket-data-center', 'ssh://git@bitbucket.example:7999/TEAM/fleet.git', 'TEAM/fleet'],
    ['azure-devops', 'https://dev.azure.com/org/project/_git/fleet', 'org/project/fleet'],
    ['github', 'https://github.com/team/fleet', 'team/fleet'],
    ['gitea', 'https://gitea.example/team/fleet', 'team/fleet'],
  ])('opens previews at %s', async (provider, url, repository) => {
    const settings = `sources:
  - name: fleet
    url: ${url}
    preview: {provider: ${provider}, account: "{berth}", credentials: {tokenFile: token}}
`;
    const [source] = (await read(settings)).map((one) => serveSource(one, context));
    expect(source?.preview).toMatchObject({ repositoryName: repository, ruleStatuses: true });
    await expect(read(settings.replace('account', 'acount'))).rejects.toThrow(/acount/);
  });

  it('says all about each source; files are meant from its folder', async () => {
    const sources = (await read(WHOLE)).map((settings) => serveSource(settings, context));
    expect(sources).toMatchObject([
      {
        name: 'fleet',
        ref: { type: 'branch', name: 'main' },
        paths: ['fleet', '!fleet/old'],
        auth: { type: 'provider' },
        signatures: { mode: 'HEAD', allowedSignersFile: path.join(dir, 'signers') },
        commitStatus: {
          target: { provider: 'github', apiUrl: 'https://api.github.com', repository: 'team/fleet' },
          targetUrl: 'https://berth.example/',
        },
      },
      {
        ref: { type: 'semver', range: '^1.2' },
        auth: { type: 'ssh', keyFile: path.join(dir, 'keys/id'), knownHostsFile: '/etc/berth/known_hosts' },
        signatures: { mode: 'TagAndHEAD' },
        commitStatus: {
          target: { apiUrl: 'https://gitlab.example/api/v4', repository: 'group/sub/releases' },
        },
        sync: 'observe',
      },
      {
        ref: { type: 'commit' },
        caFile: path.join(dir, 'ca.pem'),
        force: true,
        onConflict: 'report',
        budget: { percent: 10, atLeast: 2 },
        deletionWindowMs: 5_400_000,
        allowEmpty: true,
      },
    ]);
  });

  const one = (extra: string) => `sources:\n  - name: fleet\n    url: https://git.example/fleet\n${extra}`;
  it.each<[string, string, RegExp]>([
    ['a field that is not known', one('    refs: {branch: main}\n'), /refs.*sources\.yaml:2:5/],
    ['a field that is missing', 'sources:\n  - name: fleet\n', /sources\[0\]\.url: .*sources\.yaml:2:/],
    [
      'a value of another type',
      one('    paths: fleet\n'),
      /sources\[0\]\.paths: .*array.*sources\.yaml:4:12/,
    ],
    [
      'a ref that git could misread',
      one('    ref: {branch: --upload-pack=x}\n'),
      /\.ref\.branch: got "--upload-pack=x", expected the plain name.*sources\.yaml:4:19/,
    ],
    [
      'a tag in the place of a branch',
      one('    ref: {branch: refs/tags/v1}\n'),
      /\.ref\.branch: got "refs\/tags\/v1", expected a branch: it is a tag.*sources\.yaml:4:19/,
    ],
    [
      'a short id',
      one('    ref: {commit: a1b2c3d}\n'),
      /\.ref\.commit: got "a1b2c3d", expected a full commit id.*sources\.yaml:4:19/,
    ],
    ['a range that is none', one('    ref: {semver: x y}\n'), /\.ref\.semver: got "x y".*sources\.yaml:4:19/],
    [
      'a ref of a pull request',
      one('    ref: refs/pull/7/merge\n'),
      /\.ref: got "refs\/pull\/7\/merge", expected a branch or a tag.*sources\.yaml:4:10/,
    ],
    ['a ref of two kinds', one('    ref: {branch: a, tag: b}\n'), /sources\[0\]\.ref.*sources\.yaml:4:/],
    [
      'half of some credentials',
      one('    credentials: {sshKeyFile: a}\n'),
      /knownHostsFile.*sources\.yaml:4:/,
    ],
    ['a policy without keys', one('    signatures: {mode: Tag}\n'), /contains no keys.*sources\.yaml:4:17/],
    [
      'a provider that is none',
      one('    commitStatus: {provider: github2}\n'),
      /provider.*sources\.yaml:4:30/,
    ],
    [
      'a misspelt key, rather than the one that is missing for it',
      'sources:\n  - {name: a, urll: /x}\n',
      /sources\[0\]: unrecognized key: "urll" \(and 1 more\).*sources\.yaml:2:/,
    ],
    ['a missing key', 'sources:\n  - {name: a}\n', /sources\[0\]\.url: is missing, expected string/],
    ['another type', one('    paths: fleet\n'), /\.paths: got string, expected array.*sources\.yaml:4:/],
    ['a time without a unit', one('    deletionWindow: 600\n'), /\.deletionWindow.*sources\.yaml:4:/],
    [
      'a time before now',
      one('    deletionWindow: -10m\n'),
      /\.deletionWindow: expected a duration such as 10m.*sources\.yaml:4:/,
    ],
    ['a key without a value', one('    sync:\n'), /\.sync: .*sources\.yaml:4:/],
    ['no source at all', 'sources: []\n', /sources: .*sources\.yaml:1:/],
    [
      'two of one name',
      `${one('')}  - {name: fleet, url: /x}\n`,
      /second source with the name fleet.*sources\.yaml:4:12/,
    ],
    ['broken YAML', 'sources: [\n', /sources\.yaml:\d+:\d+/],
    ['nothing', '', /empty file/],
    ['two documents', `${one('')}---\n${one('')}`, /several documents/],
  ])('refuses %s at its line and column', async (_name, text, message) => {
    await expect(read(text)).rejects.toMatchObject({
      name: 'InputError',
      code: 'settings.file',
      message: expect.stringMatching(message) as string,
    });
  });

  it.each([
    ['refs/heads/main', { type: 'branch', name: 'main' }],
    ['{branch: refs/heads/main}', { type: 'branch', name: 'main' }],
    ['HEAD', { type: 'head' }],
    ['{branch: HEAD}', { type: 'head' }],
    ['refs/tags/v1', { type: 'tag', name: 'v1' }],
    ['{tag: refs/tags/v1}', { type: 'tag', name: 'v1' }],
    [`"${'0'.repeat(40)}"`, { type: 'commit', id: '0'.repeat(40) }],
    ['main', { type: 'branch', name: 'main' }],
  ])('takes ref: %s', async (ref, want) => {
    const [settings] = await read(one(`    ref: ${ref}\n`));
    if (settings === undefined) throw new Error('nothing was read');
    expect(serveSource(settings, context).ref).toEqual(want);
  });

  it('lets deletions count by themselves', async () => {
    for (const none of ['0', '0s'])
      expect(await read(one(`    deletionWindow: ${none}\n`))).toMatchObject([{ deletionWindow: 0 }]);
  });

  it.each<[string, string, string]>([
    [
      'an ssh key for https',
      one('    credentials: {sshKeyFile: a, knownHostsFile: b}\n'),
      'git.auth-mismatch',
    ],
    ['credentials in the URL', 'sources:\n  - {name: a, url: "https://u:p@h/x"}\n', 'git.bad-url'],
    ['a status without a token', one('    commitStatus: {provider: github}\n'), 'settings.commit-status'],
    [
      'a status of a repository that is a path',
      'sources:\n  - {name: a, url: /srv/x, commitStatus: {provider: gitea, credentials: {tokenFile: t}}}\n',
      'settings.commit-status',
    ],
  ])('refuses %s', async (_name, text, code) => {
    const [settings] = await read(text);
    if (settings === undefined) throw new Error('nothing was read');
    expect(() => serveSource(settings, context)).toThrow(expect.objectContaining({ code }) as Error);
  });

  it('says so when there is no such file', async () => {
    await expect(readSettings(path.join(dir, 'gone'))).rejects.toMatchObject({ code: 'settings.file' });
  });
});
