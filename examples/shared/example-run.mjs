// What the examples that start programs share: processes, clients and Git repositories that end with the example.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, createWriteStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const BERTH = join(import.meta.dirname, '../../dist/src/app/cli/main.js');
const LIMIT_MS = 300_000;
const POLL_MS = 200;
/** After it a program that does not end by itself is killed. */
const END_MS = 5_000;
/** Characters of a program's output that are kept for the message about its end. */
const TAIL = 2_000;

/**
 * Runs `main`, and ends everything that it started when it is through, fails, or is asked to stop.
 * @param name of the folder for its files
 * @param main receives an ExampleRun
 * @throws Error when `main` does, or when a program that it started ends too early
 */
export async function runExample(name, main) {
  const run = new ExampleRun(mkdtempSync(join(tmpdir(), `berth-${name}-`)));
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => void run.end().finally(() => process.exit(130)));
  try {
    await Promise.race([main(run), run.failure]);
  } catch (error) {
    if (!run.isEnding) throw error;
  } finally {
    await run.end();
  }
}

class ExampleRun {
  /** Its files; they go with it. */
  dir;
  isEnding = false;
  /** Rejects when a program ends that nobody ended: what the example waits for would never happen. */
  failure;
  #fail;
  #children = [];
  #clients = [];

  constructor(dir) {
    this.dir = dir;
    this.failure = new Promise((_resolve, reject) => {
      this.#fail = reject;
    });
    // The race in runExample may be over before it rejects.
    this.failure.catch(() => undefined);
  }

  /** Starts `berth ARGS`. What it logs is in the file NAME.log. */
  berth(...args) {
    return this.start(args[0], process.execPath, [BERTH, ...args]);
  }

  /** Starts a program that runs until the example ends it. Its standard output is the caller's, its standard error is in NAME.log. */
  start(name, program, args, env = {}) {
    const child = this.#spawn(name, program, args, env);
    let tail = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes) => {
        tail = `${tail}${bytes}`.slice(-TAIL);
      });
    const ended = (how) => {
      if (this.#children.includes(child)) this.#fail(new Error(`${name} ${how}; the end of what it wrote:\n${tail}`));
    };
    child.once('error', (error) => ended(`does not start: ${error.message}`));
    child.once('close', (code, signal) => ended(`ended with ${signal ?? `exit code ${code}`}`));
    return child;
  }

  #spawn(name, program, args, env) {
    if (this.isEnding) throw new Error('the example ends');
    const log = createWriteStream(join(this.dir, `${name}.log`), { flags: 'a' });
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stderr.pipe(log);
    // A pipe that nobody reads would stop the program.
    child.stdout.resume();
    this.#children.push(child);
    return child;
  }

  /** Runs `berth ARGS` to its end. @returns what it printed */
  async berthOutput(...args) {
    const child = this.#spawn(args[0], process.execPath, [BERTH, ...args], {});
    const [[code], chunks, errors] = await Promise.all([
      new Promise((resolve) => child.once('close', (...result) => resolve(result))),
      child.stdout.toArray(),
      child.stderr.toArray(),
    ]);
    this.#forget(child);
    const text = Buffer.concat(chunks).toString();
    if (code === 0) return text;
    throw new Error(`berth ${args.join(' ')} ended with exit code ${code}: ${Buffer.concat(errors)}${text}`);
  }

  /** Resolves when the process has ended: SIGTERM, after 5 s SIGKILL. */
  async stop(child) {
    this.#forget(child);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode !== null || child.signalCode !== null || !child.kill()) return;
    const forced = setTimeout(() => child.kill('SIGKILL'), END_MS);
    await ended;
    clearTimeout(forced);
  }

  #forget(child) {
    this.#children = this.#children.filter((one) => one !== child);
  }

  /** A client of the cluster in this kubeconfig. */
  client(kubeconfig) {
    const client = openClient(kubeconfig);
    this.#clients.push(client);
    return client;
  }

  /** A Git repository with the files of a folder. @param replaced texts in them, and what is there instead */
  repository(name, folder, replaced = {}) {
    const target = join(this.dir, name);
    cpSync(folder, target, { recursive: true });
    for (const file of readdirSync(target, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const path = join(file.parentPath, file.name);
      let text = readFileSync(path, 'utf8');
      for (const [from, to] of Object.entries(replaced)) text = text.replaceAll(from, to);
      writeFileSync(path, text);
    }
    execFileSync('git', ['init', '-q', '-b', 'main', target]);
    this.commit(target, name);
    return target;
  }

  /** Commits what the folder contains now. */
  commit(folder, message) {
    const author = ['-c', 'user.name=example', '-c', 'user.email=example@example.org'];
    execFileSync('git', ['-C', folder, 'add', '-A']);
    execFileSync('git', ['-C', folder, ...author, 'commit', '-q', '-m', message]);
  }

  /** A folder of its own. */
  folder(name) {
    const path = join(this.dir, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  async end() {
    this.isEnding = true;
    for (const child of this.#children.reverse()) await this.stop(child);
    for (const client of this.#clients.splice(0)) client.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** The line that a program prints first. Where it ends before that, the example fails with it. */
export async function firstLine(child) {
  return (await firstText(child, '\n')).split('\n')[0].trim();
}

/** What a program prints until it has printed `words`. */
export function firstText(child, words) {
  return new Promise((resolve) => {
    let text = '';
    child.stdout.on('data', (bytes) => {
      text += bytes;
      if (text.includes(words)) resolve(text);
    });
  });
}

/** What a kubeconfig of Berth's hub says. */
export function readKubeconfig(file) {
  const text = readFileSync(file, 'utf8');
  return {
    server: /server: "(.*)"/.exec(text)[1],
    token: /token: (\S+)/.exec(text)[1],
    caData: /certificate-authority-data: (\S+)/.exec(text)[1],
  };
}

function openClient(kubeconfig) {
  const { server, token, caData } = readKubeconfig(kubeconfig);
  const agent = new Agent({ keepAlive: true, ca: Buffer.from(caData, 'base64').toString() });
  /** @returns status and body of any answer */
  const call = (method, path, body, type = 'application/json') =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': type };
      const sent = request(`${server}${path}`, { method, agent, headers }, async (answer) => {
        try {
          const text = Buffer.concat(await answer.toArray()).toString();
          resolve({ status: answer.statusCode, body: JSON.parse(text) });
        } catch (error) {
          reject(error);
        }
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  /** @throws Error when it is refused */
  const write = async (method, path, body, type) => {
    const answer = await call(method, path, body, type);
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.message}`);
    return answer.body;
  };
  return {
    call,
    create: (path, object) => write('POST', path, object),
    patch: (path, change) => write('PATCH', path, change, 'application/merge-patch+json'),
    delete: (path) => write('DELETE', path),
    close: () => agent.destroy(),
  };
}

/** The first answer of which `test` is true. */
export async function until(what, ask, test) {
  const endMs = Date.now() + LIMIT_MS;
  let last;
  while (Date.now() < endMs) {
    try {
      last = await ask();
      if (test(last)) return last;
    } catch (error) {
      last = error;
    }
    // fixed wait: the pace of a poll
    await pause(POLL_MS);
  }
  const seen = last instanceof Error ? last.message : JSON.stringify(last);
  throw new Error(`${what} did not happen within ${LIMIT_MS / 1000} s; the last answer was ${seen}`);
}

/** A port of the loopback address that was free a moment ago. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export function say(text) {
  process.stdout.write(`${text}\n`);
}

export function show(title, value) {
  say(`\n${title}\n${typeof value === 'string' ? value.trimEnd() : JSON.stringify(value, null, 2)}`);
}
