import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { isAvailable } from '@berth/test-kit/needed-program';
import { freePort } from './free-port.ts';
import { startPeer } from './peer-process.ts';
import { peerProgram } from './peer-programs.ts';

export interface Gitea {
  readonly url: string;
  /**
   * One request to its API.
   * @param as an account made by `user`; default: the administrator
   */
  call(method: string, path: string, body?: object, as?: string): Promise<unknown>;
  /**
   * Makes an account and a token for it.
   * @returns the token
   */
  user(name: string): string;
  stop(): Promise<void>;
}

/** The templates that a server needs are in the module that the program was built from. */
function staticRoot(): string | undefined {
  const modules = join(process.env['GOMODCACHE'] ?? join(homedir(), 'go/pkg/mod'), 'code.gitea.io');
  try {
    const version = readdirSync(modules).findLast((name) => name.startsWith('gitea@'));
    return version === undefined ? undefined : join(modules, version);
  } catch {
    return undefined;
  }
}

/** Whether the module of Gitea is there beside the program; prints a sentence when it is not. */
export function hasGiteaModule(): boolean {
  const problem = 'the module of Gitea is not in the cache of Go modules';
  return isAvailable('gitea', staticRoot() === undefined ? problem : undefined);
}

/**
 * Starts a real Gitea on loopback; its webhooks may call loopback.
 * @param dir a folder of the caller's
 */
export async function startGitea(dir: string): Promise<Gitea> {
  mkdirSync(dir, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = join(dir, 'app.ini');
  writeFileSync(config, settings(dir, port, url));
  const env = { GITEA_WORK_DIR: dir, GITEA_CUSTOM: join(dir, 'custom') };
  const server = startPeer('gitea', {
    args: ['--config', config, 'web'],
    logFile: join(dir, 'gitea.log'),
    env,
  });
  await server.until(async () => (await fetch(`${url}/api/v1/version`)).ok);
  const admin = (...args: readonly string[]): string =>
    execFileSync(peerProgram('gitea'), ['--config', config, 'admin', 'user', ...args], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const tokens = new Map<string, string>();
  const user = (name: string, ...flags: readonly string[]): string => {
    const identity = [
      '--username',
      name,
      '--email',
      `${name}@example.org`,
      '--password',
      `A-${name}-1234567`,
    ];
    admin('create', ...identity, '--must-change-password=false', ...flags);
    const made = admin(
      'generate-access-token',
      '--username',
      name,
      '--token-name',
      't',
      '--scopes',
      'all',
      '--raw',
    );
    const token = made.split('\n').find((line) => /^[0-9a-f]{40}$/.test(line));
    if (token === undefined) throw new Error(`expected a token of ${name}, got ${JSON.stringify(made)}`);
    tokens.set(name, token);
    return token;
  };
  user('root', '--admin');
  return {
    url,
    user,
    async call(method, path, body, as = 'root') {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: { authorization: `token ${tokens.get(as) ?? ''}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text === '' ? undefined : (JSON.parse(text) as unknown);
    },
    stop: () => server.stop(),
  };
}

function settings(dir: string, port: number, url: string): string {
  return `RUN_USER = ${userInfo().username}
RUN_MODE = prod
WORK_PATH = ${dir}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${url}/
STATIC_ROOT_PATH = ${staticRoot() ?? ''}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = ${dir}/gitea.db
[security]
INSTALL_LOCK = true
SECRET_KEY = test
[webhook]
ALLOWED_HOST_LIST = loopback
[service]
DISABLE_REGISTRATION = true
[actions]
ENABLED = false
[log]
LEVEL = warn
`;
}
