import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Logger } from '@berth/runtime/logger';
import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { isLoopbackHost } from '@berth/runtime/loopback-host';
import type { RunningMembers } from '@berth/agent/simulation/start-members';
import type { CliCommand, RunAction } from '../cli-command.ts';
import { oneOf, wholeNumber } from '../../flags/option-values.ts';
import { backupCommand, checkCommand, compactCommand, restoreCommand } from './hub-maintenance.ts';
import type { ApiServerFileFlags } from './hub-flags.ts';
import {
  addApiServerFileFlags,
  apiServerFiles,
  parseConnections,
  parseListen,
  parseMembers,
} from './hub-flags.ts';
import { revokeCommand } from './hub-revoke.ts';

interface RunFlags extends ApiServerFileFlags {
  readonly data: string;
  readonly listen: string;
  readonly members: string;
  readonly agents: boolean;
  readonly legacyTokenSecrets: boolean;
  readonly allowWorksWithoutExecutor: boolean;
  readonly controllers: boolean;
  readonly ocmAdmission: boolean;
  readonly audit: string;
  readonly maxConnections: string;
  readonly maxConnectionsPerAddress: string;
  readonly logLevel: string;
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
    registerRun(hub, run);
    registerKubeconfig(hub, run);
    revokeCommand(hub, run);
    for (const register of [backupCommand, restoreCommand, compactCommand, checkCommand]) register(hub, run);
  },
};

function runOptions(run: Command): Command {
  return addApiServerFileFlags(run)
    .requiredOption('--data <dir>', 'data directory; created when missing')
    .option('--listen <host:port>', 'address to listen on; port 0 takes a free port', '127.0.0.1:6443')
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
    )
    .option('--log-level <level>', 'debug, info, warn, error', 'info');
}

function registerRun(hub: Command, run: RunAction): void {
  runOptions(
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
        const { hubAdmission } = await import('../../../hub-admission.ts');
        const { createLogger } = await import('../../../../adapters/log/pino-logger.ts');
        const log = createLogger({ level: parseLevel(flags.logLevel), stream: io.stderr });
        const running = await startHub({
          dataDir: flags.data,
          listen,
          members,
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
        await new Promise<void>((stop) => {
          if (io.signal.aborted) stop();
          else io.signal.addEventListener('abort', () => stop(), { once: true });
        });
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
const parseLevel = (text: string) => oneOf('--log-level', text, ['debug', 'info', 'warn', 'error']);
