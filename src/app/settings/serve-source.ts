import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { GitAuth } from '@berth/git-reader/repository/git-auth';
import { checkAuthMatchesUrl, NO_AUTH } from '@berth/git-reader/repository/git-auth';
import { gitRefOfType, parseGitRef } from '@berth/git-reader/repository/git-ref';
import type { GitRef } from '@berth/git-reader/repository/git-repository';
import { parseGitUrl } from '@berth/git-reader/repository/git-url';
import { openForge } from '@berth/forge/open-forge';
import type { ForgeRepository } from '@berth/forge/request/forge-repository';
import { forgeOfUrl } from '@berth/forge/forge-of-url';
import { GitHubApp } from '@berth/forge/github/github-app';
import { InputError, errorText } from '@berth/runtime/errors';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { ServeSource } from '../../controllers/sources/progress/source-options.ts';
import { SecretAuth } from './secret-auth.ts';
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
  const { account, forks, drafts, approvers, selfApproval, holdToPlan, ruleStatuses } = preview;
  const followed = settings.ref === undefined ? undefined : gitRef(settings.ref).type;
  if (followed === 'tag' || followed === 'semver' || followed === 'commit')
    throw new InputError('needs a source that follows a branch: pull requests are merged into branches', {
      code: 'settings.preview',
      subject: `Source ${settings.name}, preview`,
    });
  const repository = forgeRepository(settings, preview, access, 'preview');
  const from = preview.credentials ?? settings.credentials;
  const ofApp = from === undefined ? undefined : access.account(from);
  return {
    forge: openForge(repository, account === undefined ? ofApp : async () => account),
    repositoryName: repository.repository,
    rules: { forks, drafts, approvers, selfApproval, holdToPlan },
    ruleStatuses,
  };
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
