import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { getPriority } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gitEnvironment } from '../../src/program/git-environment.ts';
import { runGitOrThrow } from '../../src/program/run-git.ts';
import { tempDir } from '../git-fixture.ts';

let gitDir: string;
let server: http.Server;
let url: string;
let connected: Promise<void>;
beforeEach(async () => {
  gitDir = path.join(tempDir(), "a mirror's place");
  execFileSync('git', ['init', '-q', '--bare', gitDir]);
  let sawRequest: () => void;
  connected = new Promise((resolve) => (sawRequest = resolve));
  server = http.createServer(() => sawRequest()); // and never an answer
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/fleet.git`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(path.dirname(gitDir), { recursive: true, force: true });
});

/** Processes that work for this test: the URL is among their arguments. */
const processes = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(url);
      } catch {
        return false;
      }
    });

const fetch = (
  extra: {
    signal?: AbortSignal;
    idleTimeoutMs?: number;
    timeoutMs?: number;
    maxStdoutBytes?: number;
    path?: string;
  } = {},
) =>
  runGitOrThrow({
    args: ['fetch', '--progress', '--end-of-options', url, '+refs/heads/*:refs/heads/*'],
    environment: {
      ...gitEnvironment({ gitDir, ambient: process.env, transport: 'http' }),
      ...(extra.path === undefined ? {} : { PATH: extra.path }),
    },
    cwd: gitDir,
    subject: 'the test',
    ...extra,
  });

describe.runIf(process.platform === 'linux')('a command that talks to a remote', () => {
  it('takes its helpers with it when it is stopped', async () => {
    const stop = new AbortController();
    const fetching = fetch({ signal: stop.signal });
    await connected;
    expect(processes().length).toBeGreaterThanOrEqual(2);
    stop.abort();
    await expect(fetching).rejects.toMatchObject({ name: 'TransientError', code: 'git.aborted' });
    expect(processes()).toEqual([]);
  });

  it.each([0, 1, 2, 5, 10])('can be stopped %i ms after it began', async (delayMs) => {
    const stop = new AbortController();
    const fetching = fetch({ signal: stop.signal });
    setTimeout(() => stop.abort(), delayMs);
    await expect(fetching).rejects.toMatchObject({ name: 'TransientError', code: 'git.aborted' });
    expect(processes()).toEqual([]);
  });

  it('is not started when it was stopped before', async () => {
    await expect(fetch({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'git.aborted' });
  });

  it('is stopped when it says nothing for too long', async () => {
    await expect(fetch({ idleTimeoutMs: 200 })).rejects.toMatchObject({
      name: 'TransientError',
      code: 'git.silent',
    });
    expect(processes()).toEqual([]);
  });

  it('is stopped at its time limit, which is not reported as an abort', async () => {
    await expect(fetch({ timeoutMs: 200, signal: new AbortController().signal })).rejects.toMatchObject({
      name: 'TransientError',
      code: 'git.timeout',
      message: 'the test: git fetch timed out after 200 ms',
    });
    expect(processes()).toEqual([]);
  });

  it('that somebody else kills is an error, never an empty success', async () => {
    const fetching = fetch();
    await connected;
    for (const pid of processes()) process.kill(Number(pid), 'SIGKILL');
    await expect(fetching).rejects.toMatchObject({ name: 'TransientError', code: 'git.stopped' });
  });

  it.each([
    [
      'that does not end when asked',
      'trap "" TERM INT; while :; do sleep 1; done',
      { idleTimeoutMs: 100 },
      'git.silent',
    ],
    [
      'that talks without end',
      'while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done >&2',
      {},
      'git.output-limit',
    ],
    ['that writes too much', 'echo xxxxxxxxxxxx; sleep 60', { maxStdoutBytes: 10 }, 'git.output-limit'],
    ['that fails without a word', 'exit 3', {}, 'git.failed'],
  ])('%s is stopped, and is an error', async (_name, script, extra, code) => {
    const bin = tempDir();
    writeFileSync(path.join(bin, 'git'), `#!/bin/sh\n: ${url}\n${script}\n`);
    chmodSync(path.join(bin, 'git'), 0o755);
    await expect(fetch({ path: `${bin}:${process.env['PATH']}`, ...extra })).rejects.toMatchObject({
      name: 'TransientError',
      code,
    });
    expect(processes()).toEqual([]);
  });

  it('says so where there is no git', async () => {
    await expect(fetch({ path: tempDir() })).rejects.toMatchObject({
      name: 'TransientError',
      code: 'git.not-started',
    });
  });
});

describe('a git command', () => {
  const niceness = async (inBackground: boolean): Promise<number> => {
    const cwd = tempDir();
    // An alias that is a shell command: git itself is asked for nothing.
    const args = ['-c', 'alias.niceness=!nice', 'niceness'];
    const environment = gitEnvironment({ gitDir: cwd, ambient: process.env });
    return Number(await runGitOrThrow({ args, environment, cwd, subject: cwd, inBackground }));
  };

  it.skipIf(process.platform === 'win32')('in the background gives way to everything else', async () => {
    expect(await niceness(false)).toBe(getPriority());
    // It may have started the shell before it was told.
    await expect.poll(() => niceness(true)).toBe(19);
  });
});
