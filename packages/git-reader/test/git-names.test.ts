import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkAuthMatchesUrl } from '../src/repository/git-auth.ts';
import type { GitAuth } from '../src/repository/git-auth.ts';
import { gitEnvironment } from '../src/program/git-environment.ts';
import { gitFailure } from '../src/repository/git-failure.ts';
import { checkGitRef, parseGitRef, selectSemverTag } from '../src/repository/git-ref.ts';
import { parseGitUrl } from '../src/repository/git-url.ts';
import { splitSafeEntries } from '../src/repository/tree-safety.ts';

describe('Git URLs', () => {
  it.each([
    ['https://forge.example/team/fleet.git', 'https', 'forge.example'],
    ['http://127.0.0.1:8080/fleet', 'http', '127.0.0.1'],
    ['ssh://git@forge.example:2222/team/fleet.git', 'ssh', 'forge.example'],
    ['git@forge.example:team/fleet.git', 'ssh', 'forge.example'],
    ['forge.example:fleet', 'ssh', 'forge.example'],
    ['https://[::1]/r.git', 'https', '[::1]'],
    ['https://[::1]:8443/r.git', 'https', '[::1]'],
    ['ssh://git@[2001:db8::1]/r.git', 'ssh', '[2001:db8::1]'],
    ['ssh://git@[2001:db8::1]:2222/r.git', 'ssh', '[2001:db8::1]'],
    ['https://forge.example/a::b.git', 'https', 'forge.example'],
    ['git@[2001:db8::1]:team/fleet.git', 'ssh', '[2001:db8::1]'],
    ['/srv/a::b.git', 'file', ''],
    ['file:///srv/fleet.git', 'file', ''],
    ['/srv/fleet.git', 'file', ''],
  ])('takes %s', (text, transport, host) => {
    expect(parseGitUrl(text)).toEqual({ text, transport, host });
  });

  it.each([
    '',
    '-uhttps://x',
    '--upload-pack=touch /tmp/x',
    'ext::sh -c touch% /tmp/x',
    'fd::17',
    'ext::ssh://forge.example/x',
    'http::https://forge.example/x',
    '::x',
    'https://user:secret@forge.example/x',
    'https://token@forge.example/x',
    'ssh://git:secret@forge.example/x',
    'ssh://-oProxyCommand=touch/x',
    'git@-oProxyCommand=x:y',
    '-oProxyCommand=x:y',
    'git@host:-x',
    'git://forge.example/x',
    'ftp://forge.example/x',
    'file://elsewhere/x',
    'relative/path',
    '../up',
    'https://a\nb',
    'C:\\x',
  ])('refuses %j', (text) => {
    expect(() => parseGitUrl(text)).toThrow(
      expect.objectContaining({ name: 'InputError', code: 'git.bad-url' }) as Error,
    );
  });

  it('never repeats a secret from a URL', () => {
    expect(() => parseGitUrl('https://user:s3cret@forge.example/x')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('s3cret') as string }) as Error,
    );
  });
});

describe('Git refs', () => {
  const id = 'a1'.repeat(20);
  it.each([
    ['main', { type: 'branch', name: 'main' }],
    ['release/1.2', { type: 'branch', name: 'release/1.2' }],
    ['refs/heads/main', { type: 'branch', name: 'main' }],
    ['branch:refs/heads/main', { type: 'branch', name: 'main' }],
    ['branch:v1', { type: 'branch', name: 'v1' }],
    ['refs/tags/v1.0.0', { type: 'tag', name: 'v1.0.0' }],
    ['tag:v1.0.0', { type: 'tag', name: 'v1.0.0' }],
    ['tag:refs/tags/v1.0.0', { type: 'tag', name: 'v1.0.0' }],
    ['HEAD', { type: 'head' }],
    [id, { type: 'commit', id }],
    [`commit:${id}`, { type: 'commit', id }],
    ['b2'.repeat(32), { type: 'commit', id: 'b2'.repeat(32) }],
    ['semver:^1.2', { type: 'semver', range: '^1.2' }],
    // A branch may have such a name.
    ['a1b2c3d', { type: 'branch', name: 'a1b2c3d' }],
  ])('%s is read as CI services and users write it', (text, want) => {
    expect(parseGitRef(text)).toEqual(want);
  });

  it.each([
    ['branch:refs/tags/v1', 'got "refs/tags/v1", expected a branch: it is a tag'],
    ['tag:refs/heads/main', 'got "refs/heads/main", expected a tag: it is a branch'],
    [`branch:${id}`, `got "${id}", expected a branch: it is the id of a commit`],
    [
      'refs/pull/7/merge',
      'got "refs/pull/7/merge", expected a branch or a tag: refs/heads/NAME or refs/tags/NAME',
    ],
    ['commit:a1b2c3d', 'got "a1b2c3d", expected a full commit id of 40 or 64 hexadecimal digits'],
    ['semver:x y', 'got "x y", expected a semantic version range such as ^1.2 or >=1.0 <2'],
    ['', 'got "", expected the plain name of a branch, such as main or release/1.2'],
    ['tag:', 'got "", expected the plain name of a tag, such as main or release/1.2'],
    ['refs/heads/', 'got "", expected the plain name of a branch, such as main or release/1.2'],
    ['main~1', 'got "main~1", expected the plain name of a branch, such as main or release/1.2'],
  ])('%j is refused with what is expected', (text, problem) => {
    expect(parseGitRef(text)).toEqual({ problem });
  });

  it.each(['main', 'release/1.2', 'feature/#12', 'ü'])('takes branch %s', (name) => {
    expect(checkGitRef({ type: 'branch', name })).toEqual({ type: 'branch', name });
  });

  it.each([
    '',
    '-x',
    'a b',
    'a..b',
    'a:b',
    'a*',
    'a~1',
    'a^',
    'a.lock',
    'x.lock/y',
    '.a',
    'a/.b',
    'a/',
    '/a',
    'a//b',
    '@',
    'a@{1}',
    'a\\b',
    'a\u0000',
  ])('refuses branch %j', (name) => {
    expect(() => checkGitRef({ type: 'branch', name })).toThrow(
      expect.objectContaining({ code: 'git.bad-ref' }) as Error,
    );
  });

  it('whatever it takes cannot be an option or a refspec', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 12 }), (name) => {
        try {
          checkGitRef({ type: 'branch', name });
        } catch {
          return;
        }
        expect(name).not.toMatch(/^-|[:*\s]|\.\.|^$/);
      }),
    );
  });

  it.each([
    [['v1.0.0', 'v1.2.0', 'v1.10.0', 'v2.0.0', 'x', ''], '^1', 'v1.10.0'],
    [['1.0.0', 'v1.0.1'], '~1.0', 'v1.0.1'],
    [['v2.0.0-rc.1'], '>=1', undefined],
    [['v2.0.0-rc.1'], '>=2.0.0-rc.0', 'v2.0.0-rc.1'],
  ])('of %j within %s it is %s', (tags, range, want) => {
    expect(selectSemverTag(tags, range)).toBe(want);
  });

  it('refuses a range that is none', () => {
    expect(() => checkGitRef({ type: 'semver', range: 'newest' })).toThrow(/semantic version range/);
  });
});

describe('credentials', () => {
  const token: GitAuth = { type: 'token', file: '/t' };
  const ssh: GitAuth = { type: 'ssh', keyFile: '/k', knownHostsFile: '/h' };
  it.each<[string, GitAuth, boolean]>([
    ['https://forge.example/x', token, true],
    ['http://127.0.0.1:1/x', token, true],
    ['http://forge.example/x', token, false],
    ['ssh://git@forge.example/x', token, false],
    ['ssh://git@forge.example/x', ssh, true],
    ['https://forge.example/x', ssh, false],
    ['/srv/x', token, false],
    ['/srv/x', { type: 'none' }, true],
  ])('%s with %j: %s', (url, auth, fits) => {
    const check = () => checkAuthMatchesUrl(parseGitUrl(url), auth);
    if (fits) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'git.auth-mismatch' }) as Error);
  });
});

describe('the environment of git', () => {
  it('withholds everything but a few variables, and allows one transport', () => {
    const environment = gitEnvironment({
      gitDir: '/m',
      ambient: { PATH: '/bin', HOME: '/root', GIT_SSH: 'evil', AWS_SECRET: 's', https_proxy: 'http://p' },
      transport: 'https',
      authorization: { url: 'https://forge.example/x', value: 'Basic abc' },
    });
    expect(environment).toMatchObject({
      PATH: '/bin',
      HOME: '/nonexistent',
      GIT_ALLOW_PROTOCOL: 'https',
      https_proxy: 'http://p',
    });
    expect(Object.keys(environment)).not.toContain('GIT_SSH');
    expect(Object.keys(environment)).not.toContain('AWS_SECRET');
    const config = Object.fromEntries(
      Array.from({ length: Number(environment['GIT_CONFIG_COUNT']) }, (_, i) => [
        environment[`GIT_CONFIG_KEY_${i}`],
        environment[`GIT_CONFIG_VALUE_${i}`],
      ]),
    );
    expect(config).toMatchObject({
      'core.hooksPath': '/dev/null',
      'protocol.allow': 'never',
      'protocol.https.allow': 'always',
      'http.https://forge.example/x.extraHeader': 'Authorization: Basic abc',
    });
  });

  it('quotes paths for ssh and its shell', () => {
    const environment = gitEnvironment({
      gitDir: '/m',
      ambient: {},
      ssh: { type: 'ssh', keyFile: "/k's $(touch x)", knownHostsFile: '/h h' },
    });
    expect(environment['GIT_SSH_COMMAND']).toContain(`'-i' '/k'\\''s $(touch x)'`);
    expect(environment['GIT_SSH_COMMAND']).toContain(`'UserKnownHostsFile="/h h"'`);
  });
});

describe('failures of git', () => {
  it.each([
    ["fatal: couldn't find remote ref refs/heads/x", 'InputError', 'git.ref-not-found'],
    ["fatal: Authentication failed for 'https://x/'", 'InputError', 'git.auth'],
    ["fatal: could not read Username for 'https://x': terminal prompts disabled", 'InputError', 'git.auth'],
    [
      'git@x: Permission denied (publickey).\nfatal: Could not read from remote repository.',
      'InputError',
      'git.auth',
    ],
    ['Host key verification failed.\nfatal: Could not read', 'InputError', 'git.host-key'],
    ["fatal: repository 'https://x/y' not found", 'InputError', 'git.repository-not-found'],
    ['fatal: write error: No space left on device', 'TransientError', 'git.disk-full'],
    ["fatal: unable to access 'https://x': Could not resolve host: x", 'TransientError', 'git.failed'],
    ['error: RPC failed; HTTP 503', 'TransientError', 'git.failed'],
    ["fatal: transport 'ext' not allowed", 'InputError', 'git.transport'],
    ['No user exists for uid 10001\nfatal: Could not read', 'InputError', 'git.no-user'],
  ])('%s', (stderr, name, code) => {
    expect(gitFailure(stderr, 'x')).toMatchObject({ name, code });
  });

  it('keeps what ssh said', () => {
    const rest = 'fatal: Could not read from remote repository.\n\nPlease make sure you have the rights';
    expect(gitFailure(`ssh: connect to host x port 22: Connection refused\n${rest}`, 'x').message).toContain(
      'ssh: connect to host x port 22: Connection refused',
    );
    expect(gitFailure(rest, 'x').message).toContain('Could not read from remote repository');
  });
});

describe('trees that must not be read', () => {
  const entry = (path: string, mode = '100644') => ({ path, mode, id: 'a'.repeat(40) });

  it.each([
    ['a link', [entry('x.yaml', '120000')], 'source.symlink'],
    ['a submodule', [entry('sub', '160000')], 'source.submodule'],
    ['a way up', [entry('a/../b.yaml')], 'source.path'],
    ['a .git', [entry('a/.GIT/config.yaml')], 'source.path'],
    ['a short name of .git', [entry('git~1/x.yaml')], 'source.path'],
    ['a backslash', [entry('a\\b.yaml')], 'source.path'],
    ['a control character', [entry('a\nb.yaml')], 'source.path'],
    ['bytes that are not UTF-8', [entry('a\ufffd.yaml')], 'source.path-encoding'],
  ])('%s', (_name, entries, code) => {
    const { files, problems } = splitSafeEntries(entries, 'c');
    expect(files).toEqual([]);
    expect(problems).toMatchObject([{ severity: 'error', code, location: { file: entries[0]?.path } }]);
  });

  it('both of two names that differ only in case or composition', () => {
    const { files, problems } = splitSafeEntries([
      entry('A.yaml'),
      entry('a.yaml'),
      entry('\u00e9.yaml'),
      entry('e\u0301.yaml'),
      entry('b.yaml'),
    ]);
    expect(files.map(({ path }) => path)).toEqual(['b.yaml']);
    expect(problems.map(({ code }) => code)).toEqual(Array(4).fill('source.case-twins'));
  });
});
