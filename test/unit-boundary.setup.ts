import childProcess, { ChildProcess } from 'node:child_process';
import dgram from 'node:dgram';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Server, Socket } from 'node:net';
import { relative } from 'node:path';
import threads from 'node:worker_threads';
import { afterAll, afterEach, expect } from 'vitest';

/**
 * The boundary of the project `unit`: no socket, no process, no thread, no write to the disk. Runs before each file of the project.
 * A call that crosses the boundary throws, and the test fails even where the software catches what is thrown. Reading is allowed:
 * modules and recorded cases are files of the repository.
 */
type Functions = Record<string, ((...args: never[]) => unknown) | undefined>;

const SYNC_WRITES = [
  ...['appendFile', 'chmod', 'chown', 'copyFile', 'cp', 'lchown', 'link', 'lutimes', 'mkdir', 'mkdtemp'],
  ...['rename', 'rm', 'rmdir', 'symlink', 'truncate', 'unlink', 'utimes', 'writeFile'],
];
const WRITES = [...SYNC_WRITES, ...SYNC_WRITES.map((name) => `${name}Sync`)];
const OPENED_TO_READ: readonly unknown[] = [undefined, null, 'r', 'rs', 'sr', fs.constants.O_RDONLY];

/** What this file crossed so far. The boundary's own test empties it. */
export const crossings: string[] = [];
const undo: (() => void)[] = [];

function refuse(call: string): never {
  const file = relative(process.cwd(), expect.getState().testPath ?? 'a test');
  const message =
    `${file} calls ${call}: a unit test opens no socket, starts no process or thread and writes no file. ` +
    'Use a fake of test/fakes, or let the name of the file end in .integration.test.ts';
  crossings.push(message);
  throw new Error(message);
}

function replace(
  owner: object,
  name: string,
  make: (original: (...args: never[]) => unknown) => unknown,
): void {
  const functions = owner as Functions;
  const original = functions[name];
  if (original === undefined) return;
  functions[name] = make(original) as (...args: never[]) => unknown;
  undo.push(() => (functions[name] = original));
}

const close = (owner: object, names: readonly string[]): void => {
  // No arrow: `new` takes it too.
  const refused = (name: string) =>
    function () {
      refuse(name);
    };
  for (const name of names) replace(owner, name, () => refused(name));
};

/** `open` for reading is left as it is. */
const closeOpen = (owner: object, name: string): void =>
  replace(owner, name, (original) => (...args: never[]) => {
    const flags: unknown = typeof args[1] === 'function' ? undefined : args[1];
    return OPENED_TO_READ.includes(flags) ? original.apply(owner, args) : refuse(`${name} to write`);
  });

close(Socket.prototype, ['connect']);
close(Server.prototype, ['listen']);
close(dgram.Socket.prototype, ['bind', 'connect', 'send']);
close(ChildProcess.prototype, ['spawn']);
close(childProcess, ['spawnSync', 'execSync', 'execFileSync']);
close(threads, ['Worker']);
close(fs, [...WRITES, 'createWriteStream']);
close(fs.promises, SYNC_WRITES);
closeOpen(fs, 'open');
closeOpen(fs, 'openSync');
closeOpen(fs.promises, 'open');
syncBuiltinESMExports();

const failIfCrossed = (): void => {
  if (crossings.length > 0) throw new Error(crossings.splice(0).join('\n'));
};

afterEach(failIfCrossed);
afterAll(() => {
  for (const restore of undo) restore();
  syncBuiltinESMExports();
  failIfCrossed();
});
