// Loaded into a process under test by `--import`: SIGUSR2 makes it write to BERTH_ENTERED which functions of the project ran since the last
// time, as the offset in its script at which each begins, and the numbers of the planning processes that it started. It does the same to those.
import { ChildProcess } from 'node:child_process';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const { BERTH_ENTERED: folder = '', NODE_OPTIONS: options = '' } = process.env;
const HERE = fileURLToPath(import.meta.url);
const ROOT = new URL('../../', import.meta.url).href;

/** A session with the main thread gets its answers at once. */
function ask(session, method, params) {
  let answer;
  session.post(method, params, (error, result) => {
    if (error !== null) throw new Error(error.message);
    answer = result;
  });
  return answer;
}

function write(session, children, number) {
  const { result } = ask(session, 'Profiler.takePreciseCoverage');
  const scripts = result
    .filter(({ url }) => url.startsWith(ROOT) && !url.includes('/node_modules/') && !url.endsWith(HERE))
    .map(({ url, functions }) => ({
      url,
      // What begins at 0 is the script: it runs when it is loaded.
      offsets: functions
        .map(({ ranges: [{ startOffset, count }] }) => (count > 0 ? startOffset : 0))
        .filter((offset) => offset > 0),
    }))
    .filter(({ offsets }) => offsets.length > 0);
  const file = join(folder, `${process.pid}-${number}.json`);
  writeFileSync(`${file}.new`, JSON.stringify({ scripts, children }));
  renameSync(`${file}.new`, file);
}

function follow(session) {
  const children = new Map();
  const { spawn } = ChildProcess.prototype;
  // The environment of a planning process is a chosen one.
  ChildProcess.prototype.spawn = function (given) {
    const isPlanner = given.args?.some((arg) => arg.endsWith('plan-process.js')) === true;
    if (isPlanner) given.envPairs.push(`BERTH_ENTERED=${folder}`, `NODE_OPTIONS=${options}`);
    const started = spawn.call(this, given);
    if (isPlanner) children.set(this.pid, 0);
    this.once('exit', () => children.delete(this.pid));
    return started;
  };
  let number = 0;
  process.on('SIGUSR2', () => {
    const ready = [...children].filter(([pid]) => existsSync(join(folder, `${pid}-0.json`)));
    for (const [pid, before] of ready) {
      children.set(pid, before + 1);
      process.kill(pid, 'SIGUSR2');
    }
    write(session, ready.map(([pid, before]) => `${pid}-${before + 1}`), ++number);
  });
  // It can be asked from now on.
  write(session, [], 0);
}

if (isMainThread) {
  const session = new Session();
  session.connect();
  ask(session, 'Profiler.enable');
  ask(session, 'Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  follow(session);
}
