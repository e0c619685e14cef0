import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where systems put servers. The path of an ordinary user lacks these folders. */
const SERVER_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/**
 * Whether this machine has what a test needs beyond Node.js and git. If not, one sentence says so, and the test is to be skipped.
 * @param name of the program, or of what it does
 * @param problem what is missing; undefined: nothing
 * @throws Error if something is missing and `BERTH_REQUIRED`, names with spaces between them, contains the name. `.ci/run` sets it.
 */
export function isAvailable(name: string, problem: string | undefined, env = process.env): boolean {
  if (problem === undefined) return true;
  if ((env['BERTH_REQUIRED'] ?? '').split(/\s+/).includes(name))
    throw new Error(`BERTH_REQUIRED contains ${name}: ${problem}`);
  console.warn(`skipped: ${problem}`);
  return false;
}

/**
 * The path of a program that a test runs. Undefined if it is not installed: the test is to be skipped.
 * @throws as `isAvailable` does
 */
export function findProgram(name: string): string | undefined {
  const path = programPath(name, [...(process.env['PATH'] ?? '').split(delimiter), ...SERVER_FOLDERS]);
  isAvailable(name, path === undefined ? `there is no ${name} on this machine` : undefined);
  return path;
}

/** The first executable file of this name in the folders. */
export function programPath(name: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
