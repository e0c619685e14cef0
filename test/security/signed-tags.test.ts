import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SignatureMode, SignatureVerifier } from '@berth/git-reader/program/commit-signature';
import type { GitRef } from '@berth/git-reader/repository/git-repository';
import { openGitSource } from '../../src/controllers/sources/reading/git-source.ts';
import { GitFixture, tempDir } from '../../packages/git-reader/test/git-fixture.ts';
import { type Signer, signedCommit, signedTag, SIGNER_KINDS } from '../adapters/git/git-signers.ts';

// Ada's key is allowed. Somebody who may push, or who owns the server, has every tag and signature that Ada ever made.

const REFUSED = { name: 'InputError', code: 'git.signature' };
const V1: GitRef = { type: 'tag', name: 'v1.0.0' };

describe.each(SIGNER_KINDS)('a tag that is signed with %s', (_name, available, makeSigner) => {
  let fixture: GitFixture;
  let ada: Signer;
  beforeEach(() => {
    fixture = new GitFixture();
    ada = makeSigner();
    fixture.commit({ 'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' });
  });
  afterEach(() => fixture.remove());

  const open = (mode: SignatureMode, ref: GitRef) =>
    openGitSource({
      url: fixture.dir,
      mirrorDir: path.join(tempDir(), 'm.git'),
      ambient: process.env,
      ref,
      signatures: { ...ada.policy, mode },
    });

  async function fetched(mode: SignatureMode, ref: GitRef): Promise<string> {
    const source = await open(mode, ref);
    try {
      return (await source.fetch()).commit;
    } finally {
      await source.close();
    }
  }

  it.runIf(available)('vouches for no other commit than the one that it leads to', async () => {
    const good = signedCommit(fixture, ada, 'good');
    signedTag(fixture, ada, 'v1.0.0', good);
    const evil = fixture.commit({ 'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: evil}\n' });
    for (const mode of ['Tag', 'TagAndHEAD'] as const) {
      const verifier = new SignatureVerifier({ ...ada.policy, mode }, process.env);
      await verifier.check(fixture.dir, good, 'v1.0.0');
      await expect(verifier.check(fixture.dir, evil, 'v1.0.0')).rejects.toMatchObject(REFUSED);
      await verifier.close();
    }
  });

  it.runIf(available)('does not sign another one that it was moved to after the fetch', async () => {
    const good = signedCommit(fixture, ada, 'good');
    signedTag(fixture, ada, 'v1.0.0', good);
    const later = signedCommit(fixture, ada, 'later');
    const verifier = new SignatureVerifier({ ...ada.policy, mode: 'Tag' }, process.env);
    // What was fetched is `good`; before it is checked, the name leads to another commit, signed as well.
    signedTag(fixture, ada, 'v1.0.0', later);
    await expect(verifier.check(fixture.dir, good, 'v1.0.0')).rejects.toMatchObject({
      ...REFUSED,
      message: expect.stringContaining('points to another commit') as string,
    });
    fixture.git('update-ref', '-d', 'refs/tags/v1.0.0');
    fixture.git('tag', 'v1.0.0/other', good);
    await expect(verifier.check(fixture.dir, good, 'v1.0.0')).rejects.toMatchObject(REFUSED);
    await verifier.close();
  });

  it.runIf(available)('does not sign the commit: a policy about commits looks at that', async () => {
    const unsigned = fixture.commit({ 'b.yaml': '' });
    signedTag(fixture, ada, 'v1.0.0', unsigned);
    await expect(fetched('HEAD', V1)).rejects.toMatchObject(REFUSED);
    await expect(fetched('TagAndHEAD', V1)).rejects.toMatchObject(REFUSED);
    expect(await fetched('Tag', V1)).toBe(unsigned);
  });

  it.runIf(available)('is asked for even where the commit is signed', async () => {
    const signed = signedCommit(fixture, ada, 'signed');
    fixture.git('tag', 'v1.0.0', signed);
    await expect(fetched('Tag', V1)).rejects.toMatchObject(REFUSED);
    await expect(fetched('TagAndHEAD', V1)).rejects.toMatchObject(REFUSED);
    expect(await fetched('HEAD', V1)).toBe(signed);
  });

  it.runIf(available)('gives nothing to an unsigned tag around it', async () => {
    const signed = signedCommit(fixture, ada, 'signed');
    const inner = signedTag(fixture, ada, 'v1.0.0', signed);
    fixture.git('tag', '-f', '-a', '-m', 'around', 'v1.0.0', inner);
    for (const mode of ['Tag', 'TagAndHEAD'] as const)
      await expect(fetched(mode, V1)).rejects.toMatchObject(REFUSED);
    expect(await fetched('HEAD', V1)).toBe(signed);
  });

  it.runIf(available)('vouches through a tag of a tag for the commit at the end, and no other', async () => {
    const unsigned = fixture.commit({ 'b.yaml': '' });
    fixture.git('tag', '-a', '-m', 'inner', 'inner', unsigned);
    const inner = fixture.git('rev-parse', 'refs/tags/inner');
    signedTag(fixture, ada, 'v1.0.0', inner);
    expect(await fetched('Tag', V1)).toBe(unsigned);
    await expect(fetched('TagAndHEAD', V1)).rejects.toMatchObject(REFUSED);
    await expect(fetched('HEAD', V1)).rejects.toMatchObject(REFUSED);
    const verifier = new SignatureVerifier({ ...ada.policy, mode: 'Tag' }, process.env);
    await expect(verifier.check(fixture.dir, inner, 'v1.0.0')).rejects.toMatchObject(REFUSED);
    await verifier.close();
  });

  it.runIf(available)('named by its id counts as the commit that it leads to, at every fetch', async () => {
    const signed = signedCommit(fixture, ada, 'signed');
    const tag = signedTag(fixture, ada, 'v1.0.0', signed);
    const source = await open('HEAD', { type: 'commit', id: tag });
    expect(await source.fetch()).toEqual({ commit: signed, changed: true });
    expect(await source.fetch()).toEqual({ commit: signed, changed: false });
    await source.close();
    const unsigned = fixture.commit({ 'b.yaml': '' });
    const around = signedTag(fixture, ada, 'v2.0.0', unsigned);
    await expect(fetched('HEAD', { type: 'commit', id: around })).rejects.toMatchObject(REFUSED);
  });

  it.runIf(available)('of a blob or a tree is nothing that can be followed', async () => {
    const signed = signedCommit(fixture, ada, 'signed');
    signedTag(fixture, ada, 'v1.0.0', fixture.git('rev-parse', `${signed}^{tree}`));
    await expect(fetched('Tag', V1)).rejects.toMatchObject({ code: 'git.ref-not-found' });
  });
});
