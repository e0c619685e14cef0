import { spawn } from 'node:child_process';
import { existsSync, openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { PATIENT } from '../nodes.ts';

/** A file with the process id of the cluster's API server, which runs on this machine. Who starts it again writes the new one. */
const API_SERVER_PID_FILE = process.env['BERTH_NODES_APISERVER_PID'];

/** Whether the processes of the cluster are those of this machine. */
export const hasMachine = API_SERVER_PID_FILE !== undefined;

/** Sends a signal to the program of a pod, which runs on this machine: not to what it started. */
export function signalPod(uid: string, signal: NodeJS.Signals): void {
  for (const pid of pidsOfPod(uid)) signalProcess(pid, signal);
}

function pidsOfPod(uid: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readProcess(pid, 'cgroup').includes(`pod${uid}`))
    .filter((pid) => readProcess(pid, 'cmdline').startsWith('node\0'))
    .map(Number);
}

/** '' for a process that has ended. */
function readProcess(pid: string | number, file: string): string {
  try {
    return readFileSync(`/proc/${String(pid)}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** How long an API server that ends waits for its watches, until it is killed. */
const TERMINATION_MS = 5000;

/**
 * Ends the API server.
 * @returns what starts it again, as it was started
 */
export async function stopApiServer(signal: NodeJS.Signals): Promise<() => void> {
  const pidFile = API_SERVER_PID_FILE ?? '';
  const pid = Number(readFileSync(pidFile, 'utf8'));
  const [program = '', ...args] = readProcess(pid, 'cmdline').split('\0').slice(0, -1);
  const [cwd, log] = [readlinkSync(`/proc/${String(pid)}/cwd`), readlinkSync(`/proc/${String(pid)}/fd/2`)];
  signalProcess(pid, signal);
  const forced = setTimeout(() => signalProcess(pid, 'SIGKILL'), TERMINATION_MS);
  const hasEnded = () => !existsSync(`/proc/${String(pid)}`) || / Z /.test(readProcess(pid, 'stat'));
  await expect.poll(hasEnded, PATIENT).toBe(true);
  clearTimeout(forced);
  return () => {
    const output = openSync(log, 'a');
    const child = spawn(program, args, { cwd, detached: true, stdio: ['ignore', output, output] });
    child.unref();
    writeFileSync(pidFile, String(child.pid));
  };
}

/** Stops the API server where it is; its connections stay open. */
export function signalApiServer(signal: 'SIGSTOP' | 'SIGCONT'): void {
  signalProcess(Number(readFileSync(API_SERVER_PID_FILE ?? '', 'utf8')), signal);
}
