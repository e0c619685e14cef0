import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { addLogFlags, type LogFlags, openLog } from '../../flags/log-flags.ts';
import { listenAddress, wrongOption } from '../../flags/option-values.ts';
import { type CliCommand, verbCommand } from '../cli-command.ts';

interface GatewayFlags extends HubFlags, LogFlags {
  readonly listen: string;
  readonly address?: string;
  readonly service?: string;
  readonly namespace: string;
  readonly secretNamespace: string;
  readonly impersonate: boolean;
  readonly authorizeProxySubpath: boolean;
}

const HELP = `
Serves ClusterGateways as an API of the hub: kubectl get clustergateway, and
/apis/cluster.core.oam.dev/v1alpha1/clustergateways/CLUSTER/proxy/PATH is PATH of that cluster's API server. Only the
hub's API server connects here, so it has to reach the address. The command writes the APIService, and a Service for the
address. It manages the add-on cluster-gateway, whose clusters get an account by the add-on managed-serviceaccount and
are reached by the user server of berth proxy serve. One process runs at a time.

Exit codes: 0 stopped by a signal, 1 error.

Examples:
  berth gateway serve --kubeconfig hub.kubeconfig                        # for a hub on this machine
  berth gateway serve --listen :9443 --address gateway.example.com:9443  # for a hub elsewhere
  berth gateway serve --impersonate   # clusters see who asks, not the account of the gateway
`;

/** `berth gateway serve`: ClusterGateways as an API of the hub. */
export const gatewayCommand: CliCommand = {
  register(program, run) {
    const verb = verbCommand(program, 'gateway', 'serve the API servers of clusters as an API of the hub');
    const command = addLogFlags(
      verb.command('serve').description('serve ClusterGateways (runs until stopped)'),
    )
      .option('--listen <host:port>', "where the hub's API server connects to", '127.0.0.1:9443')
      .option('--address <host:port>', 'the address that it uses (default: that of --listen)')
      .option('--service <name>', 'a Service of the namespace that leads here, in the place of an address')
      .option(
        '--namespace <name>',
        "namespace of its Secret and of the user server's ConfigMap; it exists",
        'open-cluster-management-hub',
      )
      .option(
        '--secret-namespace <name>',
        'namespace of Secrets that are gateways',
        'open-cluster-management-credentials',
      )
      .option('--impersonate', 'each request goes to the cluster as the user who sent it', false)
      .option('--authorize-proxy-subpath', 'each request must also be allowed on the hub', false)
      .addHelpText('after', HELP);
    addHubFlags(command).action(run((io, flags: GatewayFlags) => serve(io, flags)));
  },
};

async function serve(io: CliIo, flags: GatewayFlags): Promise<ExitCode> {
  const { namespace, secretNamespace, service, impersonate, authorizeProxySubpath: authorize } = flags;
  const listen = listenAddress('--listen', flags.listen);
  const reachedAt = flags.address === undefined ? undefined : listenAddress('--address', flags.address);
  if (service !== undefined && reachedAt !== undefined)
    throw wrongOption('--address', 'has no effect with --service');
  if (service === undefined && ['', '0.0.0.0', '::'].includes((reachedAt ?? listen).host))
    throw wrongOption(
      '--listen',
      'is for every address of this machine, so say with --address which one the hub uses',
    );
  const log = await openLog(io, flags);
  const { startGateway } = await import('@berth/access/gateway/run-gateway');
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  await withHub(io, flags, async (hub) => {
    const { ended, address } = await startGateway({
      ...{ hub, namespace, secretNamespace, listen, service, reachedAt, impersonate, authorize },
      ...{ clock, random: Math.random, log, signal: io.signal },
    });
    log.info('ClusterGateways are served', { hub: hub.server, address });
    await ended;
  });
  return 0;
}
