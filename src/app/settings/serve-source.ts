import { readFile, chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { PullRequestForge } from '@berth/forge/contract/pull-request-forge';
import { forgeOfUrl } from '@berth/forge/forge-of-url';
import { GitHubApp } from '@berth/forge/github-like/github-app';
import { openForge } from '@berth/forge/open-forge';
import type { ForgeRepository } from '@berth/forge/request/forge-repository';
import {
  type GitAuth,
  checkAuthMatchesUrl,
  NO_AUTH,
  type ProvidedAuth,
} from '@berth/git-reader/repository/git-auth';
import { gitRefOfType, parseGitRef } from '@berth/git-reader/repository/git-ref';
import type { GitRef } from '@berth/git-reader/repository/git-repository';
import { parseGitUrl } from '@berth/git-reader/repository/git-url';
import { SECRET } from '@berth/kube/model/kinds';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import { secretTexts } from '@berth/kube/secret-texts';
import { InputError, errorText } from '@berth/runtime/errors';
import { PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';
import type { ServeSource } from '../../controllers/sources/progress/source-options.ts';
import type {
  CommitStatusSettings,
  CredentialSettings,
  GitHubAppSettings,
  PreviewSettings,
  RefSettings,
  SourceSettings,
} from './source-settings.ts';

export interface SourceContext {
  /** The hub to read Secrets from. Absent: a source that needs a Secret is refused. */
  readonly api: KubeApi | undefined;
  readonly dataDir: string;
  readonly nowMs: () => number;
}

/**
 * Converts a source of the settings file to options of the controller. InputError for an invalid
 * URL, ref or credentials.
 */
export function serveSource(settings: SourceSettings, context: SourceContext): ServeSource {
  const { name, url, paths, caFile, signatures, sync, force, onConflict, allowEmpty, kinds } = settings;
  const credentials = new SourceCredentials(name, context);
  const auth = settings.credentials === undefined ? undefined : credentials.auth(settings.credentials);
  checkAuthMatchesUrl(parseGitUrl(url), auth ?? NO_AUTH);
  return {
    name,
    url,
    ref: settings.ref === undefined ? undefined : gitRef(settings.ref),
    paths,
    auth,
    caFile,
    signatures,
    sync,
    force,
    onConflict,
    budget: settings.removalBudget,
    deletionWindowMs: settings.deletionWindow,
    allowEmpty,
    kinds,
    commitStatus:
      settings.commitStatus === undefined
        ? undefined
        : statusTarget(settings, settings.commitStatus, credentials),
    preview: settings.preview === undefined ? undefined : previewOf(settings, settings.preview, credentials),
    close: () => credentials.close(),
  };
}

/** @throws InputError `git.bad-ref` */
function gitRef(ref: RefSettings): GitRef {
  const read = typeof ref === 'string' ? parseGitRef(ref) : typedGitRef(ref);
  if (!('problem' in read)) return read;
  throw new InputError(read.problem, { code: 'git.bad-ref', subject: 'Git ref' });
}

function typedGitRef(ref: Exclude<RefSettings, string>): ReturnType<typeof gitRefOfType> {
  if ('branch' in ref) return gitRefOfType('branch', ref.branch);
  if ('tag' in ref) return gitRefOfType('tag', ref.tag);
  if ('semver' in ref) return gitRefOfType('semver', ref.semver);
  return gitRefOfType('commit', ref.commit);
}

function statusTarget(
  settings: SourceSettings,
  status: CommitStatusSettings,
  access: SourceCredentials,
): NonNullable<ServeSource['commitStatus']> {
  const target = forgeRepository(settings, status, access, 'commitStatus');
  return { target, targetUrl: status.targetUrl };
}

function previewOf(
  settings: SourceSettings,
  preview: PreviewSettings,
  access: SourceCredentials,
): NonNullable<ServeSource['preview']> {
  const { forks, drafts, approvers, selfApproval, holdToPlan, ruleStatuses, dryRuns } = preview;
  const followed = settings.ref === undefined ? undefined : gitRef(settings.ref).type;
  if (followed === 'tag' || followed === 'semver' || followed === 'commit')
    throw new InputError('needs a source that follows a branch: pull requests are merged into branches', {
      code: 'settings.preview',
      subject: `Source ${settings.name}, preview`,
    });
  const { forge, repository } = forgeOf(settings, preview, access);
  return {
    forge,
    repositoryName: repository.repository,
    rules: { forks, drafts, approvers, selfApproval, holdToPlan },
    ...{ ruleStatuses, dryRuns },
  };
}

/** The forge of a source with previews, with the token of Berth. */
interface OpenedForge {
  readonly forge: PullRequestForge;
  readonly repository: ForgeRepository;
}

function forgeOf(settings: SourceSettings, preview: PreviewSettings, access: SourceCredentials): OpenedForge {
  const { account } = preview;
  const repository = forgeRepository(settings, preview, access, 'preview');
  const from = preview.credentials ?? settings.credentials;
  const ofApp = from === undefined ? undefined : access.account(from);
  return { forge: openForge(repository, account === undefined ? ofApp : async () => account), repository };
}

/**
 * Opens the forge of a source as `berth serve` does.
 * @throws InputError if the source has no preview, or if its credentials cannot be used
 */
export function openPreviewForge(settings: SourceSettings, context: SourceContext): OpenedForge {
  if (settings.preview !== undefined)
    return forgeOf(settings, settings.preview, new SourceCredentials(settings.name, context));
  throw new InputError('has no preview', {
    ...{ code: 'settings.preview', subject: `Source ${settings.name}` },
    hint: 'add it to the settings file: docs/previews.md',
  });
}

function forgeRepository(
  { name, url, credentials }: SourceSettings,
  at: Pick<CommitStatusSettings, 'provider' | 'apiUrl' | 'repository' | 'credentials'>,
  access: SourceCredentials,
  field: 'commitStatus' | 'preview',
): ForgeRepository {
  const [subject, code] = [
    `Source ${name}, ${field}`,
    field === 'preview' ? 'settings.preview' : 'settings.commit-status',
  ];
  const guessed = forgeOfUrl(at.provider, url);
  const apiUrl = at.apiUrl ?? guessed?.apiUrl;
  const repository = at.repository ?? guessed?.repository;
  if (apiUrl === undefined || repository === undefined)
    throw new InputError(
      'needs apiUrl and repository, because the URL of the source does not show which forge it is',
      {
        code,
        subject,
      },
    );
  const from = at.credentials ?? credentials;
  const token = from === undefined ? undefined : access.token(from);
  if (token === undefined)
    throw new InputError('needs a token, from tokenFile, githubApp or secretRef', { code, subject });
  return { provider: at.provider, apiUrl, repository, ...token };
}

/** Converts credentials of the settings to those of git and of forge APIs. */
class SourceCredentials {
  readonly #name: string;
  readonly #context: SourceContext;
  readonly #opened: SecretAuth[] = [];

  constructor(name: string, context: SourceContext) {
    this.#name = name;
    this.#context = context;
  }

  auth(settings: CredentialSettings): GitAuth {
    if ('tokenFile' in settings)
      return { type: 'token', file: settings.tokenFile, username: settings.username };
    if ('passwordFile' in settings)
      return { type: 'basic', username: settings.username, passwordFile: settings.passwordFile };
    if ('sshKeyFile' in settings)
      return { type: 'ssh', keyFile: settings.sshKeyFile, knownHostsFile: settings.knownHostsFile };
    if ('githubApp' in settings) {
      const app = this.#gitHubApp(settings.githubApp);
      return { type: 'provider', get: () => app.credentials(), onRefused: () => app.forget() };
    }
    const secret = this.#secret(settings.secretRef);
    return { type: 'provider', get: () => secret.get(), onRefused: () => secret.refused() };
  }

  /** The token for the API of the forge; undefined if these credentials cannot be used there. */
  token(settings: CredentialSettings): Pick<ForgeRepository, 'token' | 'onRefused'> | undefined {
    if ('tokenFile' in settings) return { token: async () => (await readText(settings.tokenFile)).trim() };
    if ('passwordFile' in settings)
      return { token: async () => (await readText(settings.passwordFile)).trim() };
    if ('githubApp' in settings) {
      const app = this.#gitHubApp(settings.githubApp);
      return { token: () => app.token(), onRefused: () => app.forget() };
    }
    if (!('secretRef' in settings)) return undefined;
    const secret = this.#secret(settings.secretRef);
    return { token: () => secret.token(), onRefused: () => secret.refused() };
  }

  /**
   * The account of a GitHub App, which its tokens do not contain; undefined for other credentials.
   */
  account(settings: CredentialSettings): (() => Promise<string | undefined>) | undefined {
    if ('githubApp' in settings) {
      const app = this.#gitHubApp(settings.githubApp);
      return () => app.account();
    }
    if (!('secretRef' in settings)) return undefined;
    const secret = this.#secret(settings.secretRef);
    return () => secret.account();
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((secret) => secret.close()));
  }

  #gitHubApp({ privateKeyFile, ...app }: GitHubAppSettings): GitHubApp {
    return new GitHubApp({
      ...app,
      privateKey: () => readText(privateKeyFile),
      nowMs: this.#context.nowMs,
    });
  }

  #secret(key: { readonly name: string; readonly namespace: string }): SecretAuth {
    const { api, dataDir, nowMs } = this.#context;
    if (api === undefined)
      throw new InputError(`needs a hub to read the Secret ${key.namespace}/${key.name} from`, {
        code: 'settings.secret',
        subject: `Source ${this.#name}, credentials`,
        hint: 'set its kubeconfig with --kubeconfig',
      });
    const secret = new SecretAuth({ api, key, nowMs, dir: path.join(dataDir, 'credentials', this.#name) });
    this.#opened.push(secret);
    return secret;
  }
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new InputError(`cannot be read: ${errorText(cause)}`, {
      code: 'git.credentials',
      subject: `Credentials file ${file}`,
      cause,
    });
  });
}

interface SecretAuthOptions {
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
