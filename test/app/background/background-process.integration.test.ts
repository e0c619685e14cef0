import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import {
  berthHome,
  runningPid,
  startBackground,
  stopBackground,
  writePrivate,
} from '../../../src/app/background/background-process.ts';

let home: string;
let folder: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'berth-background-'));
  folder = path.join(home, 'agents', 'a');
});
afterEach(() => {
  child?.kill('SIGKILL');
  child = undefined;
  rmSync(home, { recursive: true, force: true });
});

/** A process whose command line names the folder, as those that are started for it do. */
async function start(script: string): Promise<number> {
  child = spawn(process.execPath, ['-e', `${script}; setInterval(() => 0, 1e6); console.log(1)`, folder]);
  if (child.stdout !== null) await once(child.stdout, 'data');
  writePrivate(folder, 'pid', String(child.pid));
  return child.pid ?? 0;
}

it('ends the process of a folder in order, and removes the folder', async () => {
  const pid = await start('');
  expect(runningPid(folder)).toBe(pid);
  // It runs: nothing is started beside it.
  expect(startBackground({ folder, args: ['--clusters', folder], env: {} })).toBe(pid);
  expect(await stopBackground(folder, systemClock)).toBe(pid);
  expect(child?.signalCode ?? (await once(child as ChildProcess, 'exit'))[1]).toBe('SIGTERM');
  expect(existsSync(folder)).toBe(false);
  expect(await stopBackground(folder, systemClock)).toBeUndefined();
});

it('leaves a process alone that has got the number of one that ended', async () => {
  writePrivate(folder, 'pid', String(process.pid));
  expect(runningPid(folder)).toBeUndefined();
  expect(await stopBackground(folder, systemClock)).toBeUndefined();
  for (const text of ['', '0', '-1', 'x']) {
    writePrivate(folder, 'pid', text);
    expect(runningPid(folder)).toBeUndefined();
  }
});

it('keeps files for the owner alone', () => {
  writePrivate(folder, 'cluster.kubeconfig', 'secret');
  expect(statSync(path.join(folder, 'cluster.kubeconfig')).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

it('starts nothing that was not built', () => {
  expect(() => startBackground({ folder, args: ['agent'], env: {} })).toThrow(
    expect.objectContaining({ code: 'background.program' }),
  );
});

it.each([
  [{ BERTH_HOME: '/srv/berth', HOME: '/root' }, '/srv/berth'],
  [{ HOME: '/home/ada' }, '/home/ada/.berth'],
])('has its home in %j', (env, want) => {
  expect(berthHome(env)).toBe(want);
  expect(() => berthHome({})).toThrow('BERTH_HOME: is not set');
});
