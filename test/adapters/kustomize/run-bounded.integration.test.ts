import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kubectlKustomize } from '../../../src/adapters/kustomize/kubectl-kustomize.ts';
import { runBounded } from '../../../src/adapters/kustomize/run-bounded.ts';
import { PATIENCE_MS } from '@berth/test-kit/patience';

const BOUNDS = { timeoutMs: PATIENCE_MS, maxOutputBytes: 1024, maxMemoryBytes: 1024 ** 3 };
const env = { PATH: process.env['PATH'] ?? '' };

const isAlive = (pid: number): boolean => {
  try {
    // A zombie that its reaper has not seen yet has ended as well.
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

describe('a program within bounds', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'berth-bounded-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));
  const run = (commandLine: string[], bounds: Partial<typeof BOUNDS> = {}) =>
    runBounded({ ...BOUNDS, ...bounds, commandLine, cwd: '/', env });

  it.each([
    [
      'ends',
      ['sh', '-c', 'echo out; echo err >&2; exit 3'],
      { kind: 'exited', exitCode: 3, stdout: 'out\n' },
    ],
    ['keeps its commandLine', ['printf', '%s|', 'a b', '$HOME', '"'], { stdout: 'a b|$HOME|"|' }],
    ['is not there', ['berth-no-such-program'], { kind: 'not-found' }],
    ['is killed', ['sh', '-c', 'kill -9 $$'], { kind: 'killed', signal: 'SIGKILL' }],
    ['writes without end', ['yes'], { kind: 'too-much-output' }],
  ])('%s', async (_name, commandLine, want) => {
    expect(await run(commandLine)).toMatchObject(want);
  });

  it('is stopped together with what it started', async () => {
    const pidFile = path.join(dir, 'pid');
    const script = `sleep 100000 & echo $! > '${pidFile}.tmp'; mv '${pidFile}.tmp' '${pidFile}'; wait`;
    // On a slow machine it may be stopped before it started anything.
    for (let timeoutMs = 500; !existsSync(pidFile); timeoutMs *= 4)
      expect(await run(['sh', '-c', script], { timeoutMs })).toEqual({ kind: 'too-slow' });
    expect(isAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });

  it('says so of a kubectl that takes too long, which may be a wrapper of another', async () => {
    writeFileSync(path.join(dir, 'kubectl'), '#!/bin/sh\nsleep 100000\n');
    chmodSync(path.join(dir, 'kubectl'), 0o755);
    const result = await kubectlKustomize({
      folder: '',
      files: new Map(),
      ambient: { PATH: `${dir}:${env.PATH}` },
      timeoutMs: 300,
    });
    expect(result).toEqual({
      ok: false,
      reason: 'stopped',
      message: 'it was not rendered within 300 ms',
    });
  });

  it('never runs a kubectl of the repository', async () => {
    const files = new Map([['kubectl', Buffer.from('#!/bin/sh\necho owned\n')]]);
    expect(await kubectlKustomize({ folder: '', files, ambient: {} })).toMatchObject({
      reason: 'no-kubectl',
    });
  });
});
