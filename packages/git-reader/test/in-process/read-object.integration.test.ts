import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InProcessRepository } from '../../src/in-process/in-process-repository.ts';
import { CommitWriter } from '../fakes/commit-writer.ts';
import { GitFixture } from '../fakes/git-fixture.ts';
import { drawn } from '@berth/test-kit/seeded-random';

const HEADER = (size: number) => `blob ${size}\0`;

describe('an object in a file of its own, read in process', () => {
  let fixture: GitFixture;
  beforeEach(() => void (fixture = new GitFixture()));
  afterEach(() => fixture.remove());
  const repository = () => new InProcessRepository(path.join(fixture.path, '.git'));
  const overwrite = (id: string, bytes: Buffer) =>
    writeFileSync(path.join(fixture.path, '.git/objects', id.slice(0, 2), id.slice(2)), bytes);
  const read = async (id: string): Promise<string> => {
    let state = '';
    await repository().readBlobs([id], { maxBytes: 1_000_000 }, (blob) => {
      state = blob.state === 'read' ? blob.bytes.toString() : blob.state;
    });
    return state;
  };
  /** The id of the file `a.yaml` with this text. */
  const committed = async (text: string): Promise<string> => {
    const commit = new CommitWriter(fixture.path).commit('main', { 'deep/in/a.yaml': text });
    const [entry] = await repository().listTree(commit);
    expect(fixture.run('cat-file', 'blob', entry?.id ?? '')).toBe(text);
    return entry?.id ?? '';
  };

  it.each([1, 70_000, 900_000])('is read with %i characters', async (length) => {
    // Random text: it must not become small.
    const random = drawn();
    const text = Array.from({ length }, () => Math.floor(random() * 36).toString(36)).join('');
    expect(await read(await committed(text))).toBe(text);
  });

  it('is missing where neither a file nor a pack has it', async () => {
    await committed('one');
    expect(await read('f'.repeat(40))).toBe('missing');
  });

  it('is read from a pack when git has packed it', async () => {
    const id = await committed('one');
    fixture.run('repack', '-adq');
    fixture.run('prune-packed', '-q');
    expect(await read(id)).toBe('one');
  });

  it.each([
    { name: 'is no compressed file', bytes: Buffer.from('broken') },
    { name: 'is cut off', bytes: deflateSync(`${HEADER(3)}one`).subarray(0, 8) },
    { name: 'is another object', bytes: deflateSync(`${HEADER(3)}two`) },
    { name: 'is empty', bytes: Buffer.alloc(0) },
  ])('is damaged when its file $name', async ({ bytes }) => {
    const id = await committed('one');
    overwrite(id, bytes);
    await expect(read(id)).rejects.toMatchObject({ name: 'TransientError', code: 'git.corrupt' });
  });
});
