import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { GitAuth } from '../src/repository/git-auth.ts';
import { GitProgramMirror } from '../src/open-mirror.ts';
import type { MirrorOptions } from '../src/mirror/mirror-lock.ts';
import type { GitMirror, GitRepository } from '../src/repository/git-repository.ts';
import { InProcessMirror } from '../src/in-process/in-process-mirror.ts';
import { InProcessRepository } from '../src/in-process/in-process-repository.ts';
import { GitFixture, tempDir } from './git-fixture.ts';
import { findProgram } from '@berth/test-kit/needed-program';
import { serveHttp, serveSsh } from './git-servers.ts';
import type { GitServer, SshServer } from './git-servers.ts';
import { describeGitRepository } from './repository-contract.ts';

const SECRET = 'tøken with : and spaces';
const secretFile = () => {
  const file = path.join(tempDir(), 'secret');
  writeFileSync(file, `${SECRET}\n`);
  return file;
};
const open = (url: string, extra: Partial<MirrorOptions> = {}): MirrorOptions => ({
  url,
  mirrorDir: path.join(tempDir(), 'mirror.git'),
  ambient: process.env,
  ...extra,
});

const IMPLEMENTATIONS: readonly [string, (options: MirrorOptions) => Promise<GitMirror>][] = [
  ['the git program', (options) => GitProgramMirror.open(options)],
  ['isomorphic-git', (options) => InProcessMirror.open(options)],
];

/** Fetches all the refs of the contract; closes the server with the repository. */
async function mirrored(
  mirror: GitMirror,
  refs: readonly Parameters<GitMirror['fetch']>[0][],
  server?: GitServer,
): Promise<GitRepository> {
  for (const ref of refs) {
    // The contract asks for two versions; each range brings one tag to a mirror that fetches only what it needs.
    if (ref.type === 'semver')
      for (const range of ['^1.5', '<1.5']) await mirror.fetch({ type: 'semver', range });
    await mirror.fetch(ref);
  }
  const close = mirror.close.bind(mirror);
  mirror.close = async () => {
    await close();
    await server?.close();
  };
  return mirror;
}

describeGitRepository(
  'isomorphic-git on a repository in place',
  async (fixture) => new InProcessRepository(fixture.dir),
);
describeGitRepository('isomorphic-git on a packed repository', async (fixture) => {
  fixture.git('gc', '--quiet');
  return new InProcessRepository(fixture.dir);
});
for (const [name, make] of IMPLEMENTATIONS) {
  describeGitRepository(`${name} over http`, async (fixture, refs) => {
    const server = await serveHttp(fixture.dir);
    return mirrored(await make(open(server.url)), refs, server);
  });
  describeGitRepository(`${name} over http with credentials`, async (fixture, refs) => {
    const server = await serveHttp(fixture.dir, { credentials: { username: 'bot', password: SECRET } });
    const auth: GitAuth = { type: 'basic', username: 'bot', passwordFile: secretFile() };
    return mirrored(await make(open(server.url, { auth })), refs, server);
  });
}

const sshd = findProgram('sshd');
if (sshd === undefined) {
  describe('ssh', () => {
    it.skip('is not tried without sshd (Debian: openssh-server)', () => undefined);
  });
} else {
  describeGitRepository('the git program over ssh', async (fixture, refs) => {
    const server = await serveSsh(fixture.dir, sshd);
    const { keyFile, knownHostsFile } = server;
    return mirrored(
      await GitProgramMirror.open(open(server.url, { auth: { type: 'ssh', keyFile, knownHostsFile } })),
      refs,
      server,
    );
  });

  describe('ssh', () => {
    let fixture: GitFixture;
    let server: SshServer;
    beforeAll(async () => {
      fixture = new GitFixture();
      fixture.commit({ 'a.yaml': 'a' });
      server = await serveSsh(fixture.dir, sshd);
    });
    afterAll(async () => {
      await server.close();
      fixture.remove();
    });

    it.each([
      [
        'a key that the server does not know',
        () => ({ keyFile: server.strangerKeyFile, knownHostsFile: server.knownHostsFile }),
        'git.auth',
      ],
      [
        'a host that is not known',
        () => ({ keyFile: server.keyFile, knownHostsFile: '/dev/null' }),
        'git.host-key',
      ],
    ])('refuses %s', async (_name, keys, code) => {
      const mirror = await GitProgramMirror.open(open(server.url, { auth: { type: 'ssh', ...keys() } }));
      await expect(mirror.fetch({ type: 'head' })).rejects.toMatchObject({ name: 'InputError', code });
      await mirror.close();
    });

    it('is refused with the way out where there is no git program', async () => {
      await expect(InProcessMirror.open(open(server.url))).rejects.toMatchObject({
        code: 'git.needs-program',
      });
    });
  });
}

describe.each(IMPLEMENTATIONS)('fetching with %s', (_name, make) => {
  let fixture: GitFixture;
  let server: GitServer | undefined;
  let mirror: GitMirror | undefined;
  afterEach(async () => {
    await mirror?.close();
    await server?.close();
    fixture.remove();
    mirror = server = undefined;
  });
  const start = async (
    serverOptions: Parameters<typeof serveHttp>[1] = {},
    extra: Partial<MirrorOptions> = {},
  ) => {
    fixture = new GitFixture();
    fixture.commit({ 'a.yaml': 'one' });
    server = await serveHttp(fixture.dir, serverOptions);
    mirror = await make(open(server.url, extra));
    return { mirror, server };
  };

  it('tells when the remote has answered, and not when it could not be asked', async () => {
    const { mirror } = await start();
    const said: string[] = [];
    const fetch = (name: string) =>
      mirror
        .fetch({ type: 'branch', name }, { onObjectsReceived: () => said.push('answered') })
        .then(() => said.push('fetched'));
    await fetch('main');
    expect(said).toEqual(['answered', 'fetched']);
    await server?.close();
    await expect(fetch('main')).rejects.toThrow();
    expect(said).toHaveLength(2);
  });

  it('follows a branch, forward and through a rewritten history', async () => {
    const { mirror } = await start();
    const main = { type: 'branch', name: 'main' } as const;
    expect(await mirror.fetch(main)).toBe(fixture.tip('main'));
    const second = fixture.commit({ 'a.yaml': 'two' });
    expect(await mirror.fetch(main)).toBe(second);
    expect(await mirror.diffTrees(`${second}`, second)).toEqual([]);
    const rewritten = fixture.commit({ 'z.yaml': 'z' }, { orphan: true });
    expect(await mirror.fetch(main)).toBe(rewritten);
    expect((await mirror.listTree(rewritten)).map(({ path: file }) => file)).toEqual(['z.yaml']);
    expect(await mirror.commit(second)).toMatchObject({ id: second });
  });

  it('follows tags as they come and go', async () => {
    const { mirror } = await start();
    const first = fixture.tip('main') ?? '';
    fixture.git('tag', 'v1.0.0', first);
    const range = { type: 'semver', range: '^1' } as const;
    expect(await mirror.fetch(range)).toBe(first);
    const second = fixture.commit({ 'a.yaml': 'two' });
    fixture.git('tag', 'v1.1.0', second);
    expect(await mirror.fetch(range)).toBe(second);
    fixture.git('tag', '-d', 'v1.1.0');
    expect(await mirror.fetch(range)).toBe(first);
  });

  it('brings a commit by its id, and does not ask twice', async () => {
    const { mirror, server } = await start();
    const first = fixture.tip('main') ?? '';
    fixture.commit({ 'a.yaml': 'two' });
    expect(await mirror.fetch({ type: 'commit', id: first })).toBe(first);
    await server.close();
    expect(await mirror.fetch({ type: 'commit', id: first })).toBe(first);
  });

  it('brings a commit that only a tag leads to', async () => {
    const { mirror } = await start();
    const tagged = fixture.commit({ 'b.yaml': 'b' }, { branch: 'side' });
    fixture.git('tag', '-a', '-m', 'x', 'kept', tagged);
    fixture.git('branch', '-D', 'side');
    expect(await mirror.fetch({ type: 'commit', id: tagged })).toBe(tagged);
  });

  it('follows whatever has a name where HEAD leads nowhere', async () => {
    const { mirror } = await start();
    const first = fixture.tip('main') ?? '';
    fixture.git('tag', 'v1.0.0', first);
    const second = fixture.commit({ 'a.yaml': 'two' });
    fixture.git('symbolic-ref', 'HEAD', 'refs/heads/gone');
    expect(await mirror.fetch({ type: 'branch', name: 'main' })).toBe(second);
    expect(await mirror.fetch({ type: 'tag', name: 'v1.0.0' })).toBe(first);
    expect(await mirror.fetch({ type: 'semver', range: '*' })).toBe(first);
    expect(await mirror.fetch({ type: 'commit', id: first })).toBe(first);
    await expect(mirror.fetch({ type: 'head' })).rejects.toMatchObject({ code: 'git.ref-not-found' });
  });

  it('tells the versions of files as far as the history of a shallow remote goes', async () => {
    const { mirror: _, server } = await start();
    fixture.commit({ 'a.yaml': 'two' });
    const tip = fixture.commit({ 'b.yaml': 'b' });
    const place = path.join(tempDir(), 'shallow.git');
    fixture.git('clone', '-q', '--bare', '--depth=2', `file://${fixture.dir}`, place);
    const shallow = await serveHttp(place);
    const follow = await make(open(shallow.url));
    expect(await follow.fetch({ type: 'head' })).toBe(tip);
    const { versions, isWhole } = await follow.fileHistories(tip, ['a.yaml', 'b.yaml'], 10);
    expect(isWhole).toBe(true);
    expect([...versions].map(([file, of]) => [file, of.length]).sort()).toEqual([
      ['a.yaml', 1],
      ['b.yaml', 1],
    ]);
    await follow.close();
    await shallow.close();
    await server.close();
  });

  it.each([
    ['the end', (list: Buffer) => list.length - 4],
    ['the highest tag', (list: Buffer) => list.indexOf('refs/tags/v1.1.0') - '003f'.length - 41],
    ['all refs', () => 0],
  ])('takes a list of refs without %s for no answer, not for a shorter list', async (_case, cutAt) => {
    let isCut = false;
    const { mirror } = await start({
      intercept: (request, response) => {
        if (!isCut || request.url?.includes('/info/refs') !== true) return false;
        const list = Buffer.from(fixture.git('upload-pack', '--stateless-rpc', '--advertise-refs', '.'));
        response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
        response.write('001e# service=git-upload-pack\n0000');
        response.end(list.subarray(0, cutAt(list)));
        return true;
      },
    });
    fixture.git('tag', 'v1.0.0', 'main');
    const highest = fixture.commit({ 'a.yaml': 'two' });
    fixture.git('tag', 'v1.1.0', highest);
    expect(await mirror.fetch({ type: 'semver', range: '^1' })).toBe(highest);
    isCut = true;
    for (const ref of [{ type: 'semver', range: '^1' } as const, { type: 'branch', name: 'main' } as const])
      await expect(mirror.fetch(ref)).rejects.toMatchObject({ name: 'TransientError', code: 'git.failed' });
  });

  it.each([
    ['a branch that is not there', { type: 'branch', name: 'gone' } as const],
    ['a tag that is not there', { type: 'tag', name: 'v9' } as const],
    ['a commit that is not there', { type: 'commit', id: '1'.repeat(40) } as const],
    ['a range without a tag', { type: 'semver', range: '^9' } as const],
  ])('says so for %s', async (_case, ref) => {
    const { mirror } = await start();
    await expect(mirror.fetch(ref)).rejects.toMatchObject({ name: 'InputError', code: 'git.ref-not-found' });
  });

  it('says what to write for a tag or a short commit id in the place of a branch', async () => {
    const { mirror } = await start();
    const commit = fixture.commit({ 'tagged.yaml': 'x' });
    fixture.git('tag', 'v7');
    const hintFor = (name: string) =>
      mirror.fetch({ type: 'branch', name }).then(
        () => 'was fetched',
        (error: { readonly hint?: string }) => error.hint,
      );
    expect(await hintFor('v7')).toMatch(/tag:(?:v7|NAME)/);
    expect(await hintFor(commit.slice(0, 8))).toMatch(/commit:ID with (?:the|its) full id/);
  });

  it('says so for wrong or missing credentials', async () => {
    const { server } = await start({ credentials: { username: 'bot', password: 'right' } });
    await expect(mirror?.fetch({ type: 'head' })).rejects.toMatchObject({
      name: 'InputError',
      code: 'git.auth',
    });
    const wrong = await make(open(server.url, { auth: { type: 'token', file: secretFile() } }));
    await expect(wrong.fetch({ type: 'head' })).rejects.toMatchObject({
      name: 'InputError',
      code: 'git.auth',
    });
    await wrong.close();
  });

  it('reads a credential again for every fetch', async () => {
    const file = secretFile();
    const { mirror } = await start(
      { credentials: { username: 'x-access-token', password: 'rotated' } },
      { auth: { type: 'token', file } },
    );
    await expect(mirror.fetch({ type: 'head' })).rejects.toMatchObject({ code: 'git.auth' });
    writeFileSync(file, 'rotated');
    expect(await mirror.fetch({ type: 'head' })).toBe(fixture.tip('main'));
  });

  it('says so for a repository that is not there', async () => {
    const { server } = await start();
    const other = await make(open(`${server.url}-gone`));
    await expect(other.fetch({ type: 'head' })).rejects.toMatchObject({
      name: 'InputError',
      code: 'git.repository-not-found',
    });
    await other.close();
  });

  it('a remote that fails or is gone is a reason to try again, and nothing is lost', async () => {
    let broken = false;
    const { mirror, server } = await start({
      intercept: (_request, response) => {
        if (broken) response.writeHead(503).end('busy');
        return broken;
      },
    });
    const commit = await mirror.fetch({ type: 'head' });
    broken = true;
    await expect(mirror.fetch({ type: 'head' })).rejects.toMatchObject({ name: 'TransientError' });
    await server.close();
    await expect(mirror.fetch({ type: 'head' })).rejects.toMatchObject({ name: 'TransientError' });
    expect(await mirror.resolve({ type: 'head' })).toBe(commit);
    expect(await mirror.listTree(commit)).toHaveLength(1);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['half', (response) => response.write('0008NAK\n0030', () => response.destroy())],
    ['without what was asked for', (response) => response.end('0008NAK\n')],
  ])('a remote that answers %s is a reason to try again', async (_case, answer) => {
    const { mirror } = await start({
      intercept: (request, response) => {
        if (request.method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
        answer(response);
        return true;
      },
    });
    await expect(mirror.fetch({ type: 'head' })).rejects.toMatchObject({ name: 'TransientError' });
  });

  it('is stopped by its caller, and by its time limit', async () => {
    const hang = { intercept: () => true };
    const { mirror, server } = await start(hang);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    await expect(mirror.fetch({ type: 'head' }, { signal: stop.signal })).rejects.toMatchObject({
      name: 'TransientError',
      code: 'git.aborted',
    });
    const hasty = await make(open(server.url, { fetchTimeoutMs: 100 }));
    await expect(hasty.fetch({ type: 'head' })).rejects.toMatchObject({
      name: 'TransientError',
      code: 'git.timeout',
      message: `Git repository ${server.url}: git fetch timed out after 100 ms`,
    });
    await hasty.close();
  });

  it('refuses a repository beyond its size limit', async () => {
    const { server } = await start();
    const noise = Array.from({ length: 40_000 }, (_, i) => ((i * 2654435761) >>> 0).toString(36)).join('');
    fixture.commit({ big: noise });
    const small = await make(open(server.url, { maxBytes: 50_000 }));
    await expect(small.fetch({ type: 'head' })).rejects.toMatchObject({
      name: 'InputError',
      code: 'git.too-large',
    });
    await small.close();
  });

  it('does not carry credentials to where a redirect points', async () => {
    const seen: (string | undefined)[] = [];
    const { server: thief } = await start({
      intercept: (request, response) => {
        seen.push(request.headers.authorization);
        response.writeHead(404).end();
        return true;
      },
    });
    const bait = await serveHttp(fixture.dir, {
      intercept: (request, response) => {
        response.writeHead(302, { location: `${thief.url}${request.url ?? ''}` }).end();
        return true;
      },
    });
    const redirected = await make(open(bait.url, { auth: { type: 'token', file: secretFile() } }));
    await expect(redirected.fetch({ type: 'head' })).rejects.toBeDefined();
    expect(seen.filter((header) => header !== undefined)).toEqual([]);
    await redirected.close();
    await bait.close();
  });

  it('does not carry them to another server that plays along, and says what to do', async () => {
    const seen: (string | undefined)[] = [];
    const { server: thief } = await start({
      intercept: (request) => {
        seen.push(request.headers.authorization);
        return false;
      },
    });
    const bait = await serveHttp(fixture.dir, {
      intercept: (request, response) => {
        const place = (request.url ?? '').replace(/^\/[^/]+/, '');
        response.writeHead(302, { location: `${thief.url}${place}` }).end();
        return true;
      },
    });
    const redirected = await make(open(bait.url, { auth: { type: 'token', file: secretFile() } }));
    await expect(redirected.fetch({ type: 'head' })).rejects.toMatchObject({
      name: 'InputError',
      code: 'git.redirect',
    });
    expect(seen.filter((header) => header !== undefined)).toEqual([]);
    await redirected.close();
    await bait.close();
  });
});
