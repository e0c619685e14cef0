import { spawn } from 'node:child_process';

/**
 * Starts the built `berth` with its output as pipes.
 * @param main path of the built `main.js`
 * @param args arguments of `berth`
 * @param flags arguments of Node.js
 * @returns the process, the time of its start (`performance.now()`), and `stop`: sends SIGTERM and
 * resolves when the process has ended
 */
export function startBerth(main, args, flags = []) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...flags, main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  return { child, startedAt, stop: () => new Promise((resolve) => (child.once('exit', resolve), child.kill('SIGTERM'))) };
}

/**
 * The first line that a process prints; of `berth hub` the path of a kubeconfig. Its errors are printed here.
 * @throws Error when the process ends before
 */
export function firstLine({ child }) {
  child.stderr?.pipe(process.stderr);
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => ((text += chunk), text.includes('\n') && resolve(text.trim())));
    child.once('exit', (code) => reject(new Error(`the process ended with ${code}`)));
  });
}
