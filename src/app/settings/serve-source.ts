import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { GitAuth } from '../../adapters/git/repository/git-auth.ts';
import { checkAuthMatchesUrl, NO_AUTH } from '../../adapters/git/repository/git-auth.ts';
import { checkGitRef } from '../../adapters/git/repository/git-ref.ts';
import type { GitRef } from '../../adapters/git/repository/git-repository.ts';
import { parseGitUrl } from '../../adapters/git/repository/git-url.ts';
import { forgeOfUrl } from '../../adapters/scm/forge-of-url.ts';
import { GitHubApp } from '../../adapters/scm/github-app.ts';
import { InputError, errorText } from '../../core/errors.ts';
import type { KubeApi } from '../../core/ports.ts';
import type { ServeSource } from '../../controllers/sources/progress/source-options.ts';
import { SecretAuth } from './secret-auth.ts';
import type {
  CommitStatusSettings,
  CredentialSettings,
  GitHubAppSettings,
  RefSettings,
  SourceSettings,
} from './source-settings.ts';

export interface SourceContext {
  /** Where Secrets are read; absent: a source that needs one is refused. */
  readonly api: KubeApi | undefined;
  readonly dataDir: string;
  readonly nowMs: () => number;
}

/** What a source of the settings file means for the controller. InputError for a URL, ref or credentials that cannot work. */
export function serveSource(settings: SourceSettings, context: SourceContext): ServeSource {
  const { name, url, paths, caFile, signatures, sync, force, onConflict, allowEmpty, kinds } = settings;
  const credentials = new SourceCredentials(name, context);
  const auth = settings.credentials === undefined ? undefined : credentials.auth(settings.credentials);
  checkAuthMatchesUrl(parseGitUrl(url), auth ?? NO_AUTH);
  return {
    name,
    url,
    ref: settings.ref === undefined ? undefined : checkGitRef(gitRef(settings.ref)),
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
    close: () => credentials.close(),
  };
}

function gitRef(ref: RefSettings): GitRef {
  if ('branch' in ref) return { type: 'branch', name: ref.branch };
  if ('tag' in ref) return { type: 'tag', name: ref.tag };
  if ('semver' in ref) return { type: 'semver', range: ref.semver };
  return { type: 'commit', id: ref.commit };
}

function statusTarget(
  { name, url, credentials }: SourceSettings,
  status: CommitStatusSettings,
  access: SourceCredentials,
): NonNullable<ServeSource['commitStatus']> {
  const subject = `Source ${name}, commitStatus`;
  const guessed = forgeOfUrl(status.provider, url);
  const apiUrl = status.apiUrl ?? guessed?.apiUrl;
  const repository = status.repository ?? guessed?.repository;
  if (apiUrl === undefined || repository === undefined)
    throw new InputError('needs apiUrl and repository: the URL of the source names no forge', {
      code: 'settings.commit-status',
      subject,
    });
  const from = status.credentials ?? credentials;
  const token = from === undefined ? undefined : access.token(from);
  if (token === undefined)
    throw new InputError('needs a token, from tokenFile, githubApp or secretRef', {
      code: 'settings.commit-status',
      subject,
    });
  return { target: { provider: status.provider, apiUrl, repository, token }, targetUrl: status.targetUrl };
}

/** Turns credentials of the settings into what git and the forges' APIs take. */
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
      return { type: 'provider', get: () => app.credentials(), refused: () => app.forget() };
    }
    const secret = this.#secret(settings.secretRef);
    return { type: 'provider', get: () => secret.get(), refused: () => secret.refused() };
  }

  /** For the API of the forge; undefined when these credentials are of no use there. */
  token(settings: CredentialSettings): (() => Promise<string>) | undefined {
    if ('tokenFile' in settings) return async () => (await readText(settings.tokenFile)).trim();
    if ('passwordFile' in settings) return async () => (await readText(settings.passwordFile)).trim();
    if ('githubApp' in settings) {
      const app = this.#gitHubApp(settings.githubApp);
      return () => app.token();
    }
    if (!('secretRef' in settings)) return undefined;
    const secret = this.#secret(settings.secretRef);
    return () => secret.token();
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
      throw new InputError(`needs a hub, to read the Secret ${key.namespace}/${key.name}`, {
        code: 'settings.secret',
        subject: `Source ${this.#name}, credentials`,
        hint: 'name its kubeconfig with --kubeconfig',
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
