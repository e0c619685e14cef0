import type { FileHandle } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { CommitFile } from '../../src/log/group-commit.ts';
import { durableFile, GroupCommit } from '../../src/log/group-commit.ts';
import { extendDigest } from '../../src/log/log-record.ts';
import { settle } from '@berth/test-kit/fake-clock';

/** A file whose steps end when the test says so. */
class SteppedFile {
  readonly steps: string[] = [];
  #end: ((error?: Error) => void) | undefined;

  /** The step under way ends. */
  async go(error?: Error): Promise<void> {
    this.#end?.(error);
    await settle();
    await settle();
  }

  readonly appendFile = (bytes: Uint8Array): Promise<void> =>
    this.#step(`append ${Buffer.from(bytes).toString()}`);
  readonly datasync = (): Promise<void> => this.#step('datasync');

  get handle(): FileHandle {
    return this as unknown as FileHandle;
  }

  #step(name: string): Promise<void> {
    this.steps.push(name);
    return new Promise((resolve, reject) => {
      this.#end = (error) => (error === undefined ? resolve() : reject(error));
    });
  }
}

function commitTo(file: CommitFile, position = { bytes: 0, digest: 0 }) {
  const reached: number[] = [];
  const fatal: unknown[] = [];
  const commit = new GroupCommit({
    file,
    rv: 0,
    position,
    onDurable: (rv) => reached.push(rv),
    onFatal: (error) => fatal.push(error),
  });
  const resolved: number[] = [];
  const wait = (rv: number) => void commit.durable(rv).then(() => resolved.push(rv));
  return { commit, reached, fatal, resolved, wait };
}

describe('group commit', () => {
  it('calls nothing durable before the data is synced', async () => {
    const file = new SteppedFile();
    const { commit, reached, resolved, wait } = commitTo(durableFile(file.handle));
    commit.append(1, 'a');
    wait(1);
    await settle();
    expect(file.steps).toEqual(['append a']);
    await file.go();
    expect(file.steps).toEqual(['append a', 'datasync']);
    expect([reached, resolved, commit.durableRv, commit.position.bytes]).toEqual([[], [], 0, 0]);
    await file.go();
    expect([reached, resolved, commit.durableRv, commit.position.bytes]).toEqual([[1], [1], 1, 1]);
  });

  it('writes the requests of a busy disk as one batch, with one sync', async () => {
    const file = new SteppedFile();
    const { commit, reached, resolved, wait } = commitTo(durableFile(file.handle));
    commit.append(1, 'a');
    commit.append(2, 'b');
    await settle();
    commit.append(3, 'c');
    commit.append(4, 'd');
    for (const rv of [1, 2, 3, 4]) wait(rv);
    await file.go();
    await file.go();
    expect([reached, resolved]).toEqual([[2], [1, 2]]);
    await file.go();
    await file.go();
    expect(file.steps).toEqual(['append ab', 'datasync', 'append cd', 'datasync']);
    expect([reached, resolved]).toEqual([
      [2, 4],
      [1, 2, 3, 4],
    ]);
    expect(commit.position).toEqual({ bytes: 4, digest: ['a', 'b', 'c', 'd'].reduce(extendDigest, 0) });
    await commit.durable(4);
  });

  it('writes again after it came to rest', async () => {
    const file = new SteppedFile();
    const { commit, reached } = commitTo(durableFile(file.handle));
    for (const rv of [1, 2]) {
      commit.append(rv, String(rv));
      await settle();
      await file.go();
      await file.go();
    }
    expect(file.steps).toEqual(['append 1', 'datasync', 'append 2', 'datasync']);
    expect(reached).toEqual([1, 2]);
  });

  it.each([
    { step: 'append', before: 0 },
    { step: 'datasync', before: 1 },
  ])('calls nothing durable any more after a failed $step, and reports it once', async ({ before }) => {
    const file = new SteppedFile();
    const { commit, reached, fatal, resolved, wait } = commitTo(durableFile(file.handle));
    commit.append(1, 'a');
    wait(1);
    await settle();
    for (let step = 0; step < before; step++) await file.go();
    const error = new Error('no space left');
    await file.go(error);
    commit.append(2, 'b');
    wait(2);
    await settle();
    await settle();
    expect([fatal, reached, resolved, commit.durableRv]).toEqual([[error], [], [], 0]);
    expect(file.steps).toHaveLength(before + 1);
  });
});

describe('a rotation', () => {
  it('ends the old file with what is durable; what was appended meanwhile goes into the new one', async () => {
    const [old, next] = [new SteppedFile(), new SteppedFile()];
    const { commit, reached } = commitTo(durableFile(old.handle), { bytes: 100, digest: 7 });
    commit.append(1, 'a');
    await settle();
    const opened: number[] = [];
    const rotated = commit.rotate(async (rv) => {
      opened.push(rv);
      return { file: durableFile(next.handle), position: { bytes: 10, digest: 3 } };
    });
    commit.append(2, 'b');
    await old.go();
    expect(opened).toEqual([]);
    await old.go();
    expect(await rotated).toBe(1);
    expect([opened, old.steps]).toEqual([[1], ['append a', 'datasync']]);
    await next.go();
    await next.go();
    expect([next.steps, reached]).toEqual([
      ['append b', 'datasync'],
      [1, 2],
    ]);
    expect(commit.position).toEqual({ bytes: 11, digest: extendDigest(3, 'b') });
  });

  it('takes place at once while nothing is written', async () => {
    const { commit } = commitTo(durableFile(new SteppedFile().handle));
    const position = { bytes: 10, digest: 3 };
    const open = async () => ({ file: durableFile(new SteppedFile().handle), position });
    expect(await commit.rotate(open)).toBe(0);
    expect(commit.position).toEqual(position);
  });
});
