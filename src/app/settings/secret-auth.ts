import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ProvidedAuth } from '@berth/git-reader/repository/git-auth';
import { GitHubApp } from '@berth/forge/github/github-app';
import { secretTexts } from '@berth/kube/secret-texts';
import { InputError } from '@berth/runtime/errors';
import { SECRET } from '@berth/kube/model/kinds';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import { PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';

export interface SecretAuthOptions {
  readonly api: KubeApi;
  readonly key: ObjectKey;
  /** Private folder for files that ssh reads. It is created when needed. */
  readonly dir: string;
  readonly nowMs: () => number;
}

/**
 * Credentials from a Kubernetes Secret, read again for every fetch, so that a rotated Secret is
 * used immediately. The keys are those of Flux and Argo CD: `username` and `password`;
 * `bearerToken`; `identity` or `ssh-privatekey` with `known_hosts`; `githubAppID`,
 * `githubAppInstallationID`, `githubAppPrivateKey` and `githubAppBaseURL`.
 */
export class SecretAuth {
  readonly #options: SecretAuthOptions;
  /** Cached while the Secret is unchanged, because its tokens are valid for an hour. */
  #app: { readonly identity: string; readonly app: GitHubApp } | undefined;

  constructor(options: SecretAuthOptions) {
    this.#options = options;
  }

  /** @throws InputError `git.credentials` when the Secret does not exist, or contains no known keys */
  async get(): Promise<ProvidedAuth> {
    const data = await this.#read();
    const key = sshKeyIn(data);
    return key === undefined ? this.#plain(data) : this.#ssh(key, data.get('known_hosts'));
  }

  /** A token for the API of the forge. */
  async token(): Promise<string> {
    const data = await this.#read();
    // Git may be using its file, with the key of another Secret.
    if (sshKeyIn(data) !== undefined)
      throw this.#problem('contains an ssh key, which the API of a forge does not accept');
    const auth = await this.#plain(data);
    return auth.type === 'bearer' ? auth.token : auth.password;
  }

  /** The account of a GitHub App, because its tokens do not name it; undefined for other credentials. */
  async account(): Promise<string | undefined> {
    const data = await this.#read();
    return data.has('githubAppID') ? this.#gitHubApp(data).account() : undefined;
  }

  /** Drops the cached app tokens; the Secret is read again anyway. */
  refused(): void {
    this.#app?.app.forget();
  }

  async close(): Promise<void> {
    await rm(this.#options.dir, { recursive: true, force: true });
  }

  /** Credentials that need no file. */
  async #plain(
    data: ReadonlyMap<string, string>,
  ): Promise<Extract<ProvidedAuth, { type: 'password' | 'bearer' }>> {
    if (data.has('githubAppID')) return this.#gitHubApp(data).credentials();
    const token = data.get('bearerToken');
    if (token !== undefined) return { type: 'bearer', token: token.trim() };
    const password = data.get('password');
    if (password !== undefined) {
      const username = withoutLineEnd(data.get('username') ?? 'x-access-token');
      return { type: 'password', username, password: withoutLineEnd(password) };
    }
    throw this.#problem(
      'contains none of the known keys',
      'expected username and password, bearerToken, identity and known_hosts, or githubAppID',
    );
  }

  async #read(): Promise<ReadonlyMap<string, string>> {
    const secret = await this.#options.api.get(SECRET, this.#options.key);
    if (secret === undefined) throw this.#problem('does not exist');
    return new Map(Object.entries(secretTexts(secret)).filter(([, value]) => value !== ''));
  }

  async #ssh(key: string, knownHosts: string | undefined): Promise<ProvidedAuth> {
    if (knownHosts === undefined)
      throw this.#problem(
        'contains an ssh key without known_hosts',
        'without it the host cannot be verified',
      );
    const { dir } = this.#options;
    await mkdir(dir, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
    const [keyFile, knownHostsFile] = [path.join(dir, 'identity'), path.join(dir, 'known_hosts')];
    // ssh requires a line break at the end, which many tools that create Secrets drop.
    await writeFile(keyFile, key.endsWith('\n') ? key : `${key}\n`, { mode: PRIVATE_FILE_MODE });
    await writeFile(knownHostsFile, knownHosts, { mode: PRIVATE_FILE_MODE });
    // An existing file keeps its mode, and ssh refuses a key that others may read.
    await chmod(keyFile, PRIVATE_FILE_MODE);
    return { type: 'ssh', keyFile, knownHostsFile };
  }

  #gitHubApp(data: ReadonlyMap<string, string>): GitHubApp {
    const names = ['githubAppID', 'githubAppInstallationID', 'githubAppPrivateKey', 'githubAppBaseURL'];
    const [appId = '', installationId, privateKey, apiUrl] = names.map((name) => data.get(name)?.trim());
    if (installationId === undefined || privateKey === undefined)
      throw this.#problem('contains githubAppID without githubAppInstallationID and githubAppPrivateKey');
    const identity = JSON.stringify([appId, installationId, privateKey, apiUrl]);
    if (this.#app?.identity !== identity) {
      const { nowMs } = this.#options;
      const app = new GitHubApp({ appId, installationId, privateKey: async () => privateKey, apiUrl, nowMs });
      this.#app = { identity, app };
    }
    return this.#app.app;
  }

  #problem(problem: string, hint?: string): InputError {
    const { namespace, name } = this.#options.key;
    return new InputError(problem, { code: 'git.credentials', subject: `Secret ${namespace}/${name}`, hint });
  }
}

/**
 * Secrets created from files, or with echo, often end with a line break that is not part of the
 * password.
 */
function withoutLineEnd(text: string): string {
  return text.replace(/[\r\n]+$/, '');
}

function sshKeyIn(data: ReadonlyMap<string, string>): string | undefined {
  return data.get('identity') ?? data.get('ssh-privatekey');
}
