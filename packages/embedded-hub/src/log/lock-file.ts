import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '@berth/runtime/errors';

/**
 * One process owns a data directory. The lock names its owner by process id, start time of the process and boot id, so
 * that a lock left by a killed process (or by an earlier boot) is taken over, and one of a living process never is.
 * Creation is atomic through link(2).
 */
export interface DirectoryLock {
  release(): void;
}

interface Owner {
  readonly pid: number;
  readonly startedAt: string;
  readonly bootId: string;
}

/**
 * @param name file of the lock: a hub holds `lock`, other locks of the directory have names of their own
 * @throws InputError `hub.data-in-use` when another living process owns the lock
 */
export function lockDirectory(directory: string, name = 'lock'): DirectoryLock {
  const path = join(directory, name);
  const own = JSON.stringify(ownerOf(process.pid));
  const candidate = join(directory, `${name}.${String(process.pid)}.${randomBytes(6).toString('hex')}`);
  writeFileSync(candidate, own, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      if (tryLink(candidate, path)) return { release: () => releaseOwn(path, own) };
      removeStale(directory, path);
    }
    throw inUse(directory, 'another process is starting on it');
  } finally {
    unlinkSync(candidate);
  }
}

/** True when a living process owns the directory: offline commands (restore, compact) must not touch it. */
export function directoryInUse(directory: string): boolean {
  const text = readLock(join(directory, 'lock'));
  return text !== undefined && isAlive(text);
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function removeStale(directory: string, path: string): void {
  const text = readLock(path);
  if (text === undefined) return;
  if (isAlive(text)) throw inUse(directory, `process ${String(parseOwner(text)?.pid ?? '?')} owns it`);
  // Two processes may find the same stale lock: one that renamed a fresh lock by accident puts it back.
  const aside = `${path}.stale.${randomBytes(6).toString('hex')}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (readLock(aside) !== text) tryLink(aside, path);
  unlinkSync(aside);
}

function releaseOwn(path: string, own: string): void {
  if (readLock(path) === own) unlinkSync(path);
}

function readLock(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function parseOwner(text: string): Owner | undefined {
  try {
    return JSON.parse(text) as Owner;
  } catch {
    return undefined;
  }
}

function isAlive(text: string): boolean {
  const owner = parseOwner(text);
  if (owner === undefined || !Number.isInteger(owner.pid)) return false;
  const now = ownerOf(owner.pid);
  if (now.bootId !== owner.bootId) return false;
  if (now.startedAt !== '' || owner.startedAt !== '') return now.startedAt === owner.startedAt;
  try {
    process.kill(owner.pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Start time and boot id come from /proc; elsewhere they stay empty and only the process id counts. */
function ownerOf(pid: number): Owner {
  const bootId = readLock('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  const stat = readLock(`/proc/${String(pid)}/stat`);
  // Field 22 is the start time; the command in parentheses (field 2) may itself hold spaces.
  const startedAt = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  return { pid, startedAt, bootId };
}

function inUse(directory: string, why: string): InputError {
  return new InputError(`is in use: ${why}`, {
    code: 'hub.data-in-use',
    subject: `data directory ${directory}`,
    hint: 'Stop the other process first, or give this one its own --data directory.',
  });
}
