import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { InputError } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';
import { builtProgram } from '../../adapters/program/package-root.ts';
import { PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';
import { sleep } from '@berth/runtime/loop/sleep';

/**
 * A `berth` command that runs in the background after its starter has ended. Its folder contains
 * its files, its log and its process id.
 */
export interface BackgroundProcess {
  /** Its path is one of `args`, by which the process is recognized. */
  readonly folder: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

const CHECK_INTERVAL_MS = 100;
/** Checks before SIGKILL: 10 seconds, because `berth` shuts down within 8. */
const MAX_CHECKS = 100;

export const logOf = (folder: string): string => path.join(folder, 'log');
const pidFileOf = (folder: string): string => path.join(folder, 'pid');

/**
 * The folder for files of this user's background processes: `$BERTH_HOME`, or else `~/.berth`.
 * @throws InputError without a home directory
 */
export function berthHome(env: BackgroundProcess['env']): string {
  const home = env['BERTH_HOME'];
  if (home !== undefined && home !== '') return path.resolve(home);
  const user = env['HOME'];
  if (user !== undefined && user !== '') return path.join(user, '.berth');
  throw new InputError('is not set, expected the folder for files of background processes', {
    code: 'background.home',
    subject: 'BERTH_HOME',
    hint: 'HOME is not set either',
  });
}

/** Writes a file that only its owner can read into the folder of a process. */
export function writePrivate(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  writeFileSync(path.join(folder, name), text, { mode: PRIVATE_FILE_MODE });
}

/** The id of the process of a folder; undefined if it does not run. */
export function runningPid(folder: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(pidFileOf(folder), 'utf8');
  } catch {
    return undefined;
  }
  const pid = Number(text);
  // Process ids are reused, so this checks that the process is ours.
  return Number.isSafeInteger(pid) && pid > 0 && commandLine(pid).includes(folder) ? pid : undefined;
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8');
  } catch {
    // Not every system has /proc.
  }
  return existsSync('/proc/self')
    ? ''
    : spawnSync('ps', ['-o', 'args=', '-p', String(pid)]).stdout.toString();
}

/**
 * Starts the process unless it runs.
 * @returns its process id
 * @throws InputError when this program is not a build
 */
export function startBackground({ folder, args, env }: BackgroundProcess): number {
  const running = runningPid(folder);
  if (running !== undefined) return running;
  const program = builtProgram('src/app/cli/main');
  if (program === undefined)
    throw new InputError('runs from its sources, expected a build', {
      code: 'background.program',
      subject: 'berth',
      hint: '--no-start prints the command and does not start it',
    });
  mkdirSync(folder, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  const log = openSync(logOf(folder), 'a', PRIVATE_FILE_MODE);
  const child = spawn(process.execPath, [fileURLToPath(program), ...args], {
    cwd: folder,
    detached: true,
    env,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  const { pid } = child;
  if (pid === undefined)
    throw new InputError('cannot be started', { code: 'background.start', subject: process.execPath });
  writePrivate(folder, 'pid', String(pid));
  return pid;
}

/**
 * Stops the process of a folder with SIGTERM, after ten seconds with SIGKILL, and removes the folder.
 * @returns its process id; undefined if it did not run
 */
export async function stopBackground(folder: string, clock: Clock): Promise<number | undefined> {
  const pid = runningPid(folder);
  if (pid !== undefined) {
    process.kill(pid, 'SIGTERM');
    const never = new AbortController().signal;
    for (let check = 0; check < MAX_CHECKS && runningPid(folder) === pid; check += 1)
      await sleep(clock, CHECK_INTERVAL_MS, never);
    if (runningPid(folder) === pid) process.kill(pid, 'SIGKILL');
  }
  rmSync(folder, { recursive: true, force: true });
  return pid;
}
