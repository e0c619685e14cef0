import type { SshAuth } from '../repository/git-auth.ts';
import type { GitTransport } from '../repository/git-url.ts';

/** Variables of the process that git or ssh may see. All others are withheld. */
const PASSED_ON = [
  'PATH',
  'TMPDIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'all_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
] as const;

export interface GitEnvironmentInput {
  /** The repository. It is set as GIT_DIR, so that git never searches for one. */
  readonly gitDir: string;
  readonly ambient: Readonly<Record<string, string | undefined>>;
  /** The only transport that git may use in this run; absent for runs that need none. */
  readonly transport?: GitTransport | undefined;
  /** `Authorization` header for http(s), sent to `url` only. */
  readonly authorization?: { readonly url: string; readonly value: string } | undefined;
  readonly ssh?: SshAuth | undefined;
  readonly caFile?: string | undefined;
  readonly config?: Readonly<Record<string, string>> | undefined;
}

/**
 * The whole environment of a git process: no user or system configuration, no prompts, no hooks, no helpers, no lazy
 * fetches, one transport. Settings and secrets go through GIT_CONFIG_* variables, where `ps` does not show them.
 */
export function gitEnvironment(input: GitEnvironmentInput): Record<string, string> {
  const environment: Record<string, string> = {
    HOME: '/nonexistent',
    XDG_CONFIG_HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_DIR: input.gitDir,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    // Grafts would give commits other parents than the remote has. Git warns of a file that is there, even if it is empty.
    GIT_GRAFT_FILE: '/nonexistent',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_ALLOW_PROTOCOL: input.transport ?? 'none',
    GIT_SSH_VARIANT: 'ssh',
    GIT_SSH_COMMAND: sshCommand(input.ssh),
  };
  for (const name of PASSED_ON) {
    const value = input.ambient[name];
    if (value !== undefined) environment[name] = value;
  }
  addConfig(environment, {
    'core.hooksPath': '/dev/null',
    'core.fsmonitor': 'false',
    'core.askPass': '',
    'credential.helper': '',
    'gc.auto': '0',
    'maintenance.auto': 'false',
    // Keep received packs: thousands of loose objects are slower to read, and their size cannot be
    // monitored.
    'fetch.unpackLimit': '1',
    // git streams larger files instead of reading them into memory.
    'core.bigFileThreshold': '32m',
    'fetch.recurseSubmodules': 'false',
    'submodule.recurse': 'false',
    'protocol.allow': 'never',
    ...(input.transport === undefined ? {} : { [`protocol.${input.transport}.allow`]: 'always' }),
    // A transfer that stays below 1 KB/s for 30 s is aborted.
    'http.lowSpeedLimit': '1000',
    'http.lowSpeedTime': '30',
    ...(input.caFile === undefined ? {} : { 'http.sslCAInfo': input.caFile }),
    ...(input.authorization === undefined
      ? {}
      : {
          [`http.${input.authorization.url}.extraHeader`]: `Authorization: ${input.authorization.value}`,
          // After a redirect, git would send the header with every later request to the other host.
          'http.followRedirects': 'false',
        }),
    ...input.config,
  });
  return environment;
}

function addConfig(environment: Record<string, string>, config: Readonly<Record<string, string>>): void {
  const entries = Object.entries(config);
  environment['GIT_CONFIG_COUNT'] = String(entries.length);
  entries.forEach(([key, value], index) => {
    environment[`GIT_CONFIG_KEY_${index}`] = key;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  });
}

/** ssh without the user's configuration; only the given key, only known hosts, no prompts. */
function sshCommand(ssh: SshAuth | undefined): string {
  const options = [
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    'UpdateHostKeys=no',
    'GlobalKnownHostsFile=/dev/null',
    `UserKnownHostsFile=${ssh === undefined ? '/dev/null' : doubleQuoted(ssh.knownHostsFile)}`,
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'ForwardAgent=no',
    'ForwardX11=no',
    'PermitLocalCommand=no',
    'ConnectTimeout=15',
    'ServerAliveInterval=15',
  ];
  const words = ['ssh', '-F', '/dev/null', ...options.flatMap((option) => ['-o', option])];
  if (ssh !== undefined) words.push('-i', ssh.keyFile);
  return words.map(shellQuoted).join(' ');
}

/** ssh splits the value at spaces unless it is in double quotes. */
function doubleQuoted(text: string): string {
  return `"${text.replaceAll('"', '')}"`;
}

function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
