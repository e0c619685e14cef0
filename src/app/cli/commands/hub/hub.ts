import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import type { RunningMembers } from '@berth/agent/simulation/start-members';
import type { RunningHub, ApiServerFiles } from '@berth/embedded-hub/hub-options';
import { errorText, InputError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { isLoopbackHost } from '@berth/runtime/loopback-host';
import { printable } from '@berth/runtime/text/printable';
import { type Command, Help } from 'commander';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addLogFlags, type LogFlags, openLog } from '../../flags/log-flags.ts';
import { oneOf, wholeNumber, wrongOption, wrongValue } from '../../flags/option-values.ts';
import type { CliCommand, RunAction } from '../cli-command.ts';
import { backupCommand, checkCommand, compactCommand, restoreCommand } from './hub-maintenance.ts';

const HELP = `
A running hub refuses revoked credentials within 5 s, and closes the watches that use them. The user may get new
credentials at once: berth hub kubeconfig. Restoring a backup makes credentials valid again that were revoked later.

Exit codes: 0 revoked, 1 error, 2 there was no such token (with --user, certificates are refused anyway).

Examples:
  berth hub revoke --data .berth/hub --user alice           # all of alice's tokens and certificates
  berth hub revoke --data .berth/hub --token-file leaked    # this token alone
  berth hub revoke --data .berth/hub --user system:serviceaccount:team-a:deployer
`;

/**
 * Maximum number of members: each has a store and five watches of simulated workloads in this
 * process, so a thousand need about a gigabyte.
 */
const MEMBER_LIMIT = 1000;

interface RunFlags extends ApiServerFileFlags, LogFlags {
  readonly data: string;
  readonly listen: string;
  readonly tlsSan?: readonly string[];
  readonly members: string;
  readonly agents: boolean;
  readonly legacyTokenSecrets: boolean;
  readonly allowWorksWithoutExecutor: boolean;
  readonly controllers: boolean;
  readonly ocmAdmission: boolean;
  readonly audit: string;
  readonly maxConnections: string;
  readonly maxConnectionsPerAddress: string;
}

interface KubeconfigFlags {
  readonly data: string;
  readonly user: string;
  readonly group: readonly string[];
  readonly cluster: string;
  readonly server?: string;
  readonly certificateDays?: string;
}

const help = (success: string): string => `
Exit codes: 0 ${success}, 1 error.

Examples:
  berth hub --data .berth/hub                              # prints the path of the administrator's kubeconfig
  berth hub --data .berth/hub --listen 127.0.0.1:6443 --members 3 --agents   # three clusters that apply works
  berth hub kubeconfig --data .berth/hub --user alice --group viewers > alice.kubeconfig
  berth hub revoke --data .berth/hub --user alice          # takes effect within 5 s if the hub runs
  berth hub backup --data .berth/hub hub.backup            # the hub may be running
  berth hub restore --data .berth/hub-new hub.backup
`;

/** `berth hub …`: runs the embedded Kubernetes API, and maintains its data. */
export const hubCommand: CliCommand = {
  register(program, run) {
    const hub = program
      .command('hub')
      .description('run the embedded hub: a Kubernetes API in one process, for OCM and Argo CD objects')
      .addHelpText('after', help('stopped by a signal'));
    const running = registerRun(hub, run);
    registerKubeconfig(hub, run);
    revokeCommand(hub, run);
    for (const register of [backupCommand, restoreCommand, compactCommand, checkCommand]) register(hub, run);
    // `berth hub` alone runs the hub, with these flags.
    hub.configureHelp({ ...hub.configureHelp(), visibleOptions: () => new Help().visibleOptions(running) });
  },
};

function runOptions(run: Command): Command {
  return addLogFlags(addApiServerFileFlags(run))
    .requiredOption('--data <dir>', 'data directory; created when missing')
    .option('--listen <host:port>', 'address to listen on; port 0 takes a free port', '127.0.0.1:6443')
    .option(
      '--tls-san <name...>',
      'more names and addresses in the certificate that the hub issues for itself',
    )
    .option(
      '--members <n or names>',
      'member clusters below /clusters/NAME: a number, or names separated by commas',
      '0',
    )
    .option(
      '--agents',
      'register the members on the hub, with the sets default and global, and run an agent for each',
      false,
    )
    .option(
      '--legacy-token-secrets',
      'put tokens valid for ten years into Secrets of type kubernetes.io/service-account-token, and accept these tokens',
      false,
    )
    .option(
      '--allow-works-without-executor',
      'users who may write ManifestWorks may omit the executor, as on an OCM hub; without it they need the right execute-as',
      false,
    )
    .option(
      '--no-controllers',
      'run only the API server: no garbage collection, no deletion of namespaces, no certificates for approved requests',
    )
    .option(
      '--no-ocm-admission',
      "leave the checks of clusters, sets, bindings and works to OCM's own webhooks, which must be installed",
    )
    .option('--audit <level>', 'audit log in the data directory: off, writes, all', 'writes')
    .option('--max-connections <n>', 'limit of open connections, 50 KB each', '16000')
    .option(
      '--max-connections-per-address <n>',
      'limit of connections from one address; agents behind a proxy share one',
      '12000',
    );
}

function registerRun(hub: Command, run: RunAction): Command {
  return runOptions(
    hub
      .command('run', { isDefault: true })
      .description('run the hub until stopped (the same as `berth hub`)'),
  )
    .addHelpText('after', help('stopped by a signal'))
    .action(
      run(async (io, flags: RunFlags) => {
        const listen = parseListen(flags.listen);
        const members = parseMembers(flags.members);
        const connections = {
          total: parseConnections('--max-connections', flags.maxConnections),
          perAddress: parseConnections('--max-connections-per-address', flags.maxConnectionsPerAddress),
        };
        const { startHub } = await import('@berth/embedded-hub/start-hub');
        const { hubAdmission } = await import('../../../../controllers/admission/hub-admission.ts');
        const { OCM_HUB_KINDS } = await import('@berth/ocm/definition/ocm-crds');
        const { withHoldColumns } = await import('../../../../core/publish/hold-columns.ts');
        const log = await openLog(io, flags);
        const running = await startHub({
          dataDir: flags.data,
          listen,
          tlsNames: flags.tlsSan,
          members,
          kinds: { ...OCM_HUB_KINDS, definitions: withHoldColumns(OCM_HUB_KINDS.definitions) },
          admission: hubAdmission({
            withoutExecutor: flags.allowWorksWithoutExecutor ? 'anyone' : 'restricted',
            ocm: flags.ocmAdmission,
          }),
          legacyTokenSecrets: flags.legacyTokenSecrets,
          controllers: flags.controllers,
          providedFiles: apiServerFiles(flags),
          audit: parseAudit(flags.audit),
          connections,
          log,
        });
        if (!isLoopbackHost(listen.host))
          io.stderr.write(`warning: listening on ${listen.host}, reachable from other machines\n`);
        const runningMembers =
          members.length === 0 ? undefined : await startMemberClusters(running, { members, flags, log });
        if (members.length > 0) {
          const { nextStep } = await import('./next-step.ts');
          // Programs read the path from stdout.
          io.stderr.write(nextStep(resolve(running.adminKubeconfigPath), members, flags.agents));
        }
        io.stdout.write(`${running.adminKubeconfigPath}\n`);
        const { keepStatus } = await import('./keep-status.ts');
        const joinable = flags.agents ? [] : (runningMembers?.clusters ?? []);
        const keeping = flags.controllers
          ? keepStatus(running, joinable, { log, signal: io.signal })
          : undefined;
        await new Promise<void>((stop) => {
          if (io.signal.aborted) stop();
          else io.signal.addEventListener('abort', () => stop(), { once: true });
        });
        await keeping;
        await runningMembers?.close();
        await running.close();
        return 0;
      }),
    );
}

/**
 * The members need a Kubernetes client, which takes longer to load than the whole hub, so it is loaded only if there
 * are members.
 */
async function startMemberClusters(
  hub: RunningHub,
  options: { readonly members: readonly string[]; readonly flags: RunFlags; readonly log: Logger },
): Promise<RunningMembers> {
  const { startMembers } = await import('@berth/agent/simulation/start-members');
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  const { members: names, flags, log } = options;
  return startMembers({ hub, names, agents: flags.agents, clock, log });
}

function registerKubeconfig(hub: Command, run: RunAction): void {
  const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
  hub
    .command('kubeconfig')
    .description('print a kubeconfig with fresh credentials for a user; RBAC decides what the user may do')
    .requiredOption('--data <dir>', 'data directory of the hub')
    .requiredOption('--user <name>', 'name of the user')
    .option('--group <name>', 'group of the user; may be repeated', collect, [])
    .option('--cluster <name>', 'hub, or the name of a member cluster', 'hub')
    .option('--server <url>', 'address that clients use (default: the address that the hub listens on)')
    .option('--certificate-days <n>', 'a client certificate for this many days instead of a token')
    .addHelpText('after', help('printed'))
    .action(
      run(async (io, flags: KubeconfigFlags) => {
        const { issueKubeconfig } = await import('@berth/embedded-hub/maintenance/issue-kubeconfig');
        const { data: dataDir, user, group: groups, server } = flags;
        const cluster = flags.cluster === 'hub' ? '' : flags.cluster;
        const certificateDays =
          flags.certificateDays === undefined
            ? undefined
            : wholeNumber('--certificate-days', flags.certificateDays, 1, 9_999);
        const request = { dataDir, user, groups, cluster, server, certificateDays };
        io.stdout.write(await issueKubeconfig(request, Date.now()));
        return 0;
      }),
    );
}

const parseAudit = (text: string) => oneOf('--audit', text, ['off', 'writes', 'all']);

/**
 * Parses `HOST:PORT`, `:PORT` or `[::1]:PORT`.
 * @throws InputError
 */
function parseListen(text: string): { readonly host: string; readonly port: number } {
  const match = /^(\[[0-9a-fA-F:]+\]|[^:[\]]*):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535)
    throw wrongValue('--listen', text, 'HOST:PORT, for example 127.0.0.1:6443');
  const host = (match[1] ?? '').replace(/^\[|\]$/g, '');
  return { host: host === '' ? '127.0.0.1' : host, port };
}

/**
 * A number means `cluster1` … `clusterN`; any other text is a list of names, separated by commas.
 * @throws InputError
 */
function parseMembers(text: string): readonly string[] {
  if (/^\d+$/.test(text)) {
    const count = Number(text);
    if (count > MEMBER_LIMIT) throw wrongValue('--members', text, `at most ${String(MEMBER_LIMIT)}`);
    return Array.from({ length: count }, (_, index) => `cluster${String(index + 1)}`);
  }
  const names = text.split(',').map((name) => name.trim());
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (names.includes('') || duplicate !== undefined)
    throw wrongValue('--members', text, 'a number, or different names with commas');
  return names;
}

/**
 * Parses the limit of open connections.
 * @throws InputError
 */
function parseConnections(flag: string, text: string): number {
  return wholeNumber(flag, text, 1, 9_999_999);
}

/** Flags of kube-apiserver that installers and test environments set. */
interface ApiServerFileFlags {
  readonly clientCaFile?: string;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly serviceAccountKeyFile: readonly string[];
  readonly serviceAccountIssuer: readonly string[];
  readonly tokenAuthFile?: string;
}

function addApiServerFileFlags(run: Command): Command {
  const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
  return run
    .option('--client-ca-file <file>', 'authorities (PEM) whose client certificates the hub also accepts')
    .option(
      '--tls-cert-file <file>',
      'serving certificate (PEM, with its chain), instead of one that the hub creates',
    )
    .option('--tls-private-key-file <file>', 'key (PEM) of --tls-cert-file')
    .option(
      '--service-account-key-file <file>',
      'key (PEM) with which others sign ServiceAccount tokens; may be repeated',
      collect,
      [],
    )
    .option('--service-account-issuer <issuer>', 'issuer that such tokens name; may be repeated', collect, [])
    .option(
      '--token-auth-file <file>',
      'static tokens (CSV: token,user,uid,"group1,group2"), read when the hub starts',
    );
}

/** @throws InputError when only one of the two serving files is given */
export function apiServerFiles(flags: ApiServerFileFlags): ApiServerFiles {
  const { tlsCertFile: certificate, tlsPrivateKeyFile: key } = flags;
  if (certificate === undefined && key !== undefined)
    throw wrongValue('--tls-private-key-file', key, '--tls-cert-file as well');
  if (certificate !== undefined && key === undefined)
    throw wrongValue('--tls-cert-file', certificate, '--tls-private-key-file as well');
  return {
    clientCa: flags.clientCaFile,
    serving: certificate === undefined || key === undefined ? undefined : { certificate, key },
    tokenKeys: flags.serviceAccountKeyFile,
    tokenIssuers: flags.serviceAccountIssuer,
    tokens: flags.tokenAuthFile,
  };
}

interface RevokeFlags {
  readonly data: string;
  readonly user?: string;
  readonly tokenFile?: string;
}

/** `berth hub revoke`: revokes credentials that the hub issued. */
function revokeCommand(hub: Command, run: RunAction): void {
  hub
    .command('revoke')
    .description('revoke the credentials of a user, or one token; the hub may be running')
    .requiredOption('--data <dir>', 'data directory of the hub')
    .option(
      '--user <name>',
      'remove the user’s tokens, and refuse its client certificates and service account tokens issued until now',
    )
    .option('--token-file <file>', 'remove the token in this file; - reads stdin')
    .addHelpText('after', HELP)
    .action(run((io, flags: RevokeFlags) => revoke(io, flags)));
}

async function revoke(io: CliIo, { data, user, tokenFile }: RevokeFlags): Promise<ExitCode> {
  if ((user === undefined) === (tokenFile === undefined))
    throw wrongOption(
      '--user',
      `got ${user === undefined ? 'neither' : 'both'}, expected either --user or --token-file`,
    );
  const { revokeToken, revokeUser } = await import('@berth/embedded-hub/maintenance/revoke-credentials');
  const dataDir = resolve(io.cwd, data);
  if (user !== undefined) {
    if (user === '') throw wrongOption('--user', 'got an empty name, expected the name of a user');
    const count = revokeUser(dataDir, user, Date.now());
    const name = printable(user);
    io.stdout.write(
      count === 0 ? `${name}: there is no token\n` : `${name}: ${String(count)} token(s) revoked\n`,
    );
    io.stdout.write(`${name}: certificates and service account tokens issued until now are refused\n`);
    return count === 0 ? 2 : 0;
  }
  const found = revokeToken(dataDir, await readToken(io, tokenFile ?? ''));
  io.stdout.write(
    found === undefined
      ? 'the hub did not issue this token; use --user to revoke a service account token\n'
      : `${printable(found)}: 1 token(s) revoked\n`,
  );
  return found === undefined ? 2 : 0;
}

async function readToken(io: CliIo, file: string): Promise<string> {
  let text: string;
  try {
    text = file === '-' ? await textOf(io.stdin) : await readFile(resolve(io.cwd, file), 'utf8');
  } catch (cause) {
    throw new InputError(`cannot be read: ${errorText(cause)}`, { code: 'cli.token', subject: file, cause });
  }
  const token = text.trim();
  if (/^\S+$/.test(token)) return token;
  throw new InputError('contains no token, expected one word', { code: 'cli.token', subject: file });
}
