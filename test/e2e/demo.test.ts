import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const BERTH = join(process.cwd(), 'dist/src/app/cli/main.js');

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'berth-demo-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

interface Run {
  readonly process: ChildProcess;
  readonly text: () => string;
  readonly exit: Promise<{ code: number | null; signal: string | null }>;
  until(pattern: RegExp): Promise<void>;
}

function demo(...args: string[]): Run {
  const child = spawn(process.execPath, [BERTH, 'demo', ...args], {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      for (const listener of listeners) listener();
    });
  const exit = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal })),
  );
  const until = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!pattern.test(text)) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      void exit.then(() => reject(new Error(`the demo ended before ${String(pattern)}:\n${text}`)));
      look();
    });
  return { process: child, text: () => text, exit, until };
}

const CHAPTERS = [
  /commit {4}[0-9a-f]{8} "Place the guestbook"/,
  /decide {4}guestbook\/frontend: 1 of 3 clusters selected/,
  /\+ cluster1: rank 1 of 2/,
  /publish {3}guestbook\/frontend: PlacementDecisions say cluster1/,
  /work {6}guestbook\/frontend: ManifestWork cluster1\/\S+ created/,
  /agent {5}cluster1: work frontend\S* applied/,
  /Deployment guestbook\/frontend reports ReadyReplicas=3/,
  /publish {3}guestbook\/frontend: PlacementDecisions say cluster2/,
  /"clusterName": "cluster2"/,
  /guestbook\/redis: 1 → 1 clusters/,
  /Every step succeeded/,
];

describe('berth demo', () => {
  it('tells the whole story once, in its order, without a problem, and leaves nothing behind', async () => {
    const run = demo('--once');
    expect(await run.exit, run.text()).toEqual({ code: 0, signal: null });
    let from = 0;
    for (const chapter of CHAPTERS) {
      const found = run.text().slice(from).search(chapter);
      expect(found, `${String(chapter)} after character ${from} of\n${run.text()}`).toBeGreaterThanOrEqual(0);
      from += found;
    }
    expect(run.text()).not.toMatch(/problem|Warning/);
    // One line for each of the two commits.
    expect(run.text().match(/hub follows Git/g)).toHaveLength(2);
    expect(existsSync(join(dir, '.berth'))).toBe(false);
  });

  it('goes on where a kill -9 left it, at whatever step', async () => {
    const data = join(dir, 'data');
    for (const moment of [
      /made from examples/,
      /ManifestWork cluster1\/\S+ created/,
      /"Drain cluster1 for maintenance"/,
    ]) {
      const killed = demo('--once', '--data', data);
      await killed.until(moment);
      killed.process.kill('SIGKILL');
      await killed.exit;
    }
    const last = demo('--once', '--data', data);
    expect(await last.exit, last.text()).toEqual({ code: 0, signal: null });
    const log = execFileSync('git', ['log', '--format=%s', 'main'], {
      cwd: join(data, 'fleet.git'),
      encoding: 'utf8',
    });
    expect(log.trim().split('\n')).toEqual(['Drain cluster1 for maintenance', 'Place the guestbook']);
  });

  it('writes nothing to the hub when it is started again and nothing has changed', async () => {
    const data = join(dir, 'data');
    expect((await demo('--once', '--data', data).exit).code).toBe(0);
    const again = demo('--once', '--data', data);
    expect((await again.exit).code, again.text()).toBe(0);
    expect(again.text()).toMatch(/hub follows Git: 0 objects written/);
    expect(again.text()).not.toMatch(
      /ManifestWork \S+ (created|updated|deleted)|PlacementDecisions say|corrected/,
    );
  });

  it('stays up with a kubeconfig that works, and ends at once on Ctrl-C', async () => {
    const run = demo();
    await run.until(/Ctrl-C ends it/);
    await run.until(/kubectl --kubeconfig \S+ get placements/);
    const kubeconfig = /kubeconfig (\S+admin\.kubeconfig)/.exec(run.text())?.[1] ?? '';
    expect(await readFile(kubeconfig, 'utf8')).toContain('certificate-authority-data');
    run.process.kill('SIGINT');
    expect(await run.exit).toEqual({ code: 0, signal: null });
    expect(existsSync(join(dir, '.berth'))).toBe(false);
  });
});
