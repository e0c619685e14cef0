import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SignatureVerifier } from '@berth/git-reader/program/commit-signature';
import type { GitRef } from '@berth/git-reader/repository/git-repository';
import type { SignatureMode } from '@berth/git-reader/program/commit-signature';
import { openGitSource } from '../../../src/controllers/sources/reading/git-source.ts';
import { findProgram } from '@berth/test-kit/needed-program';
import { GitFixture, tempDir } from '../../../packages/git-reader/test/git-fixture.ts';
import { gpg, gpgSigner, type Signer, signedCommit, signedTag, SIGNER_KINDS } from './git-signers.ts';

describe.each(SIGNER_KINDS)('%s signatures', (_name, available, makeSigner) => {
  let fixture: GitFixture;
  beforeEach(() => {
    fixture = new GitFixture();
    fixture.commit({ 'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' });
  });
  afterEach(() => fixture.remove());

  it.runIf(available)('are good only by an allowed key', async () => {
    const [ada, eve] = [makeSigner(), makeSigner()];
    const verifier = new SignatureVerifier(ada.policy, process.env);
    await verifier.check(fixture.dir, signedCommit(fixture, ada, 'by Ada'));
    const refused = { name: 'InputError', code: 'git.signature' };
    await expect(verifier.check(fixture.dir, signedCommit(fixture, eve, 'by Eve'))).rejects.toMatchObject(
      refused,
    );
    await expect(verifier.check(fixture.dir, fixture.commit({}))).rejects.toMatchObject(refused);
    const genuine = signedCommit(fixture, ada, 'genuine');
    const forged = fixture.git('cat-file', 'commit', genuine).replace('genuine', 'forged!');
    const id = execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
      cwd: fixture.dir,
      input: `${forged}\n`,
      encoding: 'utf8',
    }).trim();
    await expect(verifier.check(fixture.dir, id)).rejects.toMatchObject(refused);
    await verifier.close();
  });

  it.runIf(available)('that are refused name what git says', async () => {
    const [ada, eve] = [makeSigner(), makeSigner()];
    const verifier = new SignatureVerifier(ada.policy, process.env);
    const says =
      /\(git: (gpg: Can't check signature: No public key|.*No principal matched.*|Could not verify.*)\)/;
    await expect(verifier.check(fixture.dir, signedCommit(fixture, eve, 'by Eve'))).rejects.toMatchObject({
      message: expect.stringMatching(says) as string,
    });
    await verifier.close();
  });

  it.runIf(available)('on tags count where the policy asks for them', async () => {
    const [ada, eve] = [makeSigner(), makeSigner()];
    const fetchWith = async (mode: SignatureMode, ref: GitRef) => {
      const source = await openGitSource({
        url: fixture.dir,
        mirrorDir: path.join(tempDir(), 'm.git'),
        ambient: process.env,
        ref,
        signatures: { ...ada.policy, mode },
      });
      try {
        return (await source.fetch()).commit;
      } finally {
        await source.close();
      }
    };
    const refused = { name: 'InputError', code: 'git.signature' };
    const plain = fixture.commit({ 'b.yaml': '' });
    signedTag(fixture, ada, 'v1.0.0', plain);
    const signed = signedCommit(fixture, ada, 'signed');
    signedTag(fixture, ada, 'v1.1.0', signed);
    const range = (text: string): GitRef => ({ type: 'semver', range: text });
    expect(await fetchWith('Tag', range('1.0.x'))).toBe(plain);
    expect(await fetchWith('Tag', { type: 'tag', name: 'v1.0.0' })).toBe(plain);
    await expect(fetchWith('TagAndHEAD', range('1.0.x'))).rejects.toMatchObject(refused);
    await expect(fetchWith('HEAD', range('1.0.x'))).rejects.toMatchObject(refused);
    expect(await fetchWith('TagAndHEAD', range('1.1.x'))).toBe(signed);
    signedTag(fixture, eve, 'v1.2.0', signed);
    await expect(fetchWith('Tag', range('1.2.x'))).rejects.toMatchObject(refused);
    fixture.git('tag', 'v1.3.0', signed);
    await expect(fetchWith('Tag', range('1.3.x'))).rejects.toMatchObject(refused);
    fixture.git('tag', '-a', '-m', 'by nobody', 'v1.4.0', signed);
    await expect(fetchWith('Tag', range('1.4.x'))).rejects.toMatchObject(refused);
    // A genuine old tag under a new name.
    fixture.git('update-ref', 'refs/tags/v1.9.0', fixture.git('rev-parse', 'refs/tags/v1.0.0'));
    await expect(fetchWith('Tag', range('1.9.x'))).rejects.toMatchObject(refused);
    await expect(fetchWith('Tag', { type: 'branch', name: 'main' })).rejects.toMatchObject({
      code: 'git.signature-policy',
    });
  });

  it.runIf(available)('are judged by the keys as they are now', async () => {
    const [ada, eve] = [makeSigner(), makeSigner()];
    const keysOf = ({ policy }: Signer) => policy.allowedSignersFile ?? policy.gpgKeysFile ?? '';
    const keys = path.join(tempDir(), 'keys');
    copyFileSync(keysOf(ada), keys);
    const isSsh = ada.policy.gpgKeysFile === undefined;
    const verifier = new SignatureVerifier(
      isSsh ? { allowedSignersFile: keys } : { gpgKeysFile: keys },
      process.env,
    );
    const commit = signedCommit(fixture, ada, 'good');
    await verifier.check(fixture.dir, commit);
    copyFileSync(keysOf(eve), keys);
    await expect(verifier.check(fixture.dir, commit)).rejects.toMatchObject({ code: 'git.signature' });
    writeFileSync(keys, `${readFileSync(keysOf(eve), 'utf8')}\n${readFileSync(keysOf(ada), 'utf8')}`);
    await verifier.check(fixture.dir, commit);
    await verifier.close();
  });

  it.runIf(available)(
    'are not judged before the allowed keys can be read, or without the program for them',
    async () => {
      const ada = makeSigner();
      const commit = signedCommit(fixture, ada, 'good');
      const keysFile = path.join(tempDir(), 'mounted-late');
      const isSsh = ada.policy.gpgKeysFile === undefined;
      const policy = isSsh ? { allowedSignersFile: keysFile } : { gpgKeysFile: keysFile };
      const verifier = new SignatureVerifier(policy, process.env);
      await expect(verifier.check(fixture.dir, commit)).rejects.toMatchObject({
        code: 'git.signature-policy',
        message: expect.stringContaining(`${keysFile}: cannot be read`) as string,
      });
      copyFileSync(ada.policy.allowedSignersFile ?? ada.policy.gpgKeysFile ?? '', keysFile);
      await verifier.check(fixture.dir, commit);
      await verifier.close();
      const PATH = tempDir();
      const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
      symlinkSync(git, path.join(PATH, 'git'));
      const bare = new SignatureVerifier(policy, { PATH });
      await expect(bare.check(fixture.dir, commit)).rejects.toMatchObject({
        code: 'git.signature-policy',
        message: expect.stringMatching(
          /needs the program (gpg|ssh-keygen), which is not installed/,
        ) as string,
      });
      await bare.close();
    },
  );

  it.runIf(available)('on the tip vouch for what led to it, and no earlier one for the tip', async () => {
    const [ada, eve] = [makeSigner(), makeSigner()];
    const verifier = new SignatureVerifier(ada.policy, process.env);
    const good = signedCommit(fixture, ada, 'good');
    const side = fixture.commit({ 'side.yaml': '' }, { branch: 'side' });
    const merge = (message: string, ...parents: string[]) => {
      const args = parents.flatMap((parent) => ['-p', parent]);
      const id = fixture.git('commit-tree', ...args, '-m', message, `${good}^{tree}`);
      fixture.git('update-ref', 'refs/heads/main', id);
      return id;
    };
    const unsigned = merge('unsigned merge', good, side);
    await expect(verifier.check(fixture.dir, unsigned)).rejects.toMatchObject({ code: 'git.signature' });
    await verifier.check(fixture.dir, signedCommit(fixture, ada, 'over an unsigned merge'));
    await expect(verifier.check(fixture.dir, signedCommit(fixture, eve, 'eve'))).rejects.toMatchObject({
      code: 'git.signature',
    });
    await verifier.close();
  });

  it.runIf(available)('count only when there is one of them, by an allowed key', async () => {
    const [ada, eve] = [makeSigner(), makeSigner()];
    const verifier = new SignatureVerifier(ada.policy, process.env);
    const signatureOf = (commit: string) =>
      /^gpgsig [^]*?^ -----END [A-Z ]+-----\n(?: ?\n)*/m.exec(
        fixture.git('cat-file', 'commit', commit),
      )?.[0] ?? '';
    const parent = fixture.tip('main') ?? '';
    const byAda = signedCommit(fixture, ada, 'same');
    fixture.git('update-ref', 'refs/heads/main', parent);
    const byEve = signedCommit(fixture, eve, 'same');
    const text = fixture.git('cat-file', 'commit', byEve);
    const withSignature = (signature: string) =>
      fixture.rawObject('commit', Buffer.from(`${text.replace(signatureOf(byEve), () => signature)}\n`));
    for (const signature of [
      signatureOf(byEve) + signatureOf(byAda),
      signatureOf(byAda).replace(/^gpgsig /, 'gpgsig-sha256 '),
    ])
      await expect(verifier.check(fixture.dir, withSignature(signature))).rejects.toMatchObject({
        code: 'git.signature',
      });
    await verifier.close();
  });

  it.runIf(available)('keep a source at the last accepted commit, also after a restart', async () => {
    const ada = makeSigner();
    const mirrorDir = path.join(tempDir(), 'm.git');
    const open = () =>
      openGitSource({ url: fixture.dir, mirrorDir, ambient: process.env, signatures: ada.policy });
    const source = await open();
    await expect(source.fetch()).rejects.toMatchObject({ code: 'git.signature' });
    await expect(source.read()).rejects.toMatchObject({ code: 'git.signature' });
    const good = signedCommit(fixture, ada, 'good');
    expect(await source.fetch()).toEqual({ commit: good, changed: true });
    fixture.commit({ 'a.yaml': null });
    await expect(source.fetch()).rejects.toMatchObject({ code: 'git.signature' });
    expect((await source.read()).commit?.id).toBe(good);
    await source.settle();
    await source.close();
    const restarted = await open();
    expect((await restarted.read()).commit?.id).toBe(good);
    await expect(restarted.fetch()).rejects.toMatchObject({ code: 'git.signature' });
    expect(await restarted.last()).toBe(good);
    await restarted.close();
  });
});

describe.runIf(findProgram('gpg') !== undefined)('GPG keys', () => {
  let fixture: GitFixture;
  let ada: Signer;
  let keysFile: string;
  let temporary: string;
  beforeEach(() => {
    fixture = new GitFixture();
    fixture.commit({ 'a.yaml': '' });
    ada = gpgSigner();
    keysFile = ada.policy.gpgKeysFile ?? '';
    temporary = mkdtempSync('/tmp/berth-rings-');
    vi.stubEnv('TMPDIR', temporary);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    expect(readdirSync(temporary)).toEqual([]);
    rmSync(temporary, { recursive: true });
    fixture.remove();
  });

  it('that cannot be read yet are read once they are there', async () => {
    const commit = fixture.tip('main') ?? '';
    const gpgKeysFile = path.join(path.dirname(keysFile), 'mounted-late.asc');
    const verifier = new SignatureVerifier({ gpgKeysFile }, process.env);
    for (let round = 0; round < 2; round++)
      await expect(verifier.check(fixture.dir, commit)).rejects.toMatchObject({
        code: 'git.signature-policy',
      });
    expect(readdirSync(temporary)).toEqual([]);
    copyFileSync(keysFile, gpgKeysFile);
    await expect(verifier.check(fixture.dir, commit)).rejects.toMatchObject({
      code: 'git.signature',
      message: expect.stringContaining('not signed') as string,
    });
    await verifier.close();
  });

  it('are read again when their ring was tidied away', async () => {
    const verifier = new SignatureVerifier(ada.policy, process.env);
    const commit = signedCommit(fixture, ada, 'good');
    await verifier.check(fixture.dir, commit);
    const [ring = ''] = readdirSync(temporary);
    rmSync(path.join(temporary, ring, 'pubring.kbx'), { force: true });
    await verifier.check(fixture.dir, commit);
    for (const name of readdirSync(temporary)) rmSync(path.join(temporary, name), { recursive: true });
    await verifier.check(fixture.dir, commit);
    await verifier.close();
  });

  it('that have expired sign nothing more', async () => {
    const commit = signedCommit(fixture, ada, 'good');
    const listed = gpg(ada, ['--with-colons', '--list-keys']).toString();
    const fingerprint = /^fpr:+([0-9A-F]+):/m.exec(listed)?.[1] ?? '';
    gpg(ada, ['--quick-set-expire', fingerprint, 'seconds=1']);
    writeFileSync(keysFile, gpg(ada, ['--armor', '--export']));
    // fixed wait: gpg reads the time of the machine, in whole seconds
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    const verifier = new SignatureVerifier(ada.policy, process.env);
    await expect(verifier.check(fixture.dir, commit)).rejects.toMatchObject({ code: 'git.signature' });
    await verifier.close();
  });

  it('that are revoked in the file of keys sign nothing more', async () => {
    const commit = signedCommit(fixture, ada, 'good');
    const verifier = new SignatureVerifier(ada.policy, process.env);
    await verifier.check(fixture.dir, commit);
    const revocations = path.join(ada.env['GNUPGHOME'] ?? '', 'openpgp-revocs.d');
    const [certificate = ''] = readdirSync(revocations);
    const text = readFileSync(path.join(revocations, certificate), 'utf8');
    // gpg guards it with a colon against use by accident.
    gpg(ada, ['--import'], text.replace(/^:(-----BEGIN)/m, '$1'));
    writeFileSync(keysFile, gpg(ada, ['--armor', '--export']));
    await expect(verifier.check(fixture.dir, commit)).rejects.toMatchObject({ code: 'git.signature' });
    await verifier.close();
  });
});
