import { addHubFlags } from '../../flags/hub-flags.ts';
import { addLogFlags } from '../../flags/log-flags.ts';
import { type CliCommand, verbCommand } from '../cli-command.ts';
import type { AgentFlags, ClusterFlags, ForwardFlags, HealthFlags, ServeFlags } from './proxy-flags.ts';

/** Where OCM's controllers are on a hub. */
const NAMESPACE = 'open-cluster-management-hub';
const ADDON_NAMESPACE = 'open-cluster-management-agent-addon';

const SERVE_HELP = `
Runs three things: the server of the tunnel, to which the agents of clusters dial; the user server, where people reach
https://HOST/CLUSTER/api/...; and the manager of the add-on cluster-proxy, whose agents these are. With --replicas several
run: each agent dials until it is connected to so many, so the two addresses lead to each of them in turn. Its kubeconfig
needs the rights in docs/access.md.

Exit codes: 0 stopped by a signal, 1 error.

Examples:
  berth proxy serve --kubeconfig hub.kubeconfig                    # for agents and people on this machine
  berth proxy serve --listen :9092 --public-url https://clusters.example.com:9092 --agent-listen :8091 \\
    --agent-address tunnel.example.com:8091                       # behind two addresses that others reach
`;

const AGENT_HELP = `
The add-on cluster-proxy runs this in a pod of the cluster. Where a cluster runs no pods, start it yourself with a
kubeconfig of the cluster. The cluster's own agent (berth agent) gets the certificate; until it is there this one waits.
It dials out and listens nowhere.

Exit codes: 0 stopped by a signal, 1 error.

Examples:
  berth proxy agent --kubeconfig cluster1.kubeconfig
  berth proxy agent --namespace ${ADDON_NAMESPACE}   # in a pod of the cluster
`;

const KUBECONFIG_HELP = `
The kubeconfig has the token of your kubeconfig of the hub, or of an account of the hub. It is as secret as that.

Exit codes: 0 printed, 1 error.

Examples:
  berth proxy kubeconfig --cluster cluster1 > cluster1.kubeconfig
  berth proxy kubeconfig --cluster cluster1 --service-account team-a/deployer --duration 8h
`;

const KUBECTL_HELP = `
Runs the program kubectl with a kubeconfig of the cluster that is gone afterwards.

Exit codes: 0 as kubectl, 1 kubectl failed, or error.

Examples:
  berth proxy kubectl --cluster cluster1 -- get pods -A
  berth proxy kubectl --cluster cluster1 -- logs -f deployment/web
`;

const FORWARD_HELP = `
Serves a service of the cluster on this machine: each HTTP request, also of a WebSocket, goes through the hub with your
token, which the service does not get. The ConfigMap cluster-proxy-exposed-services of the hub must list the service, and
the cluster must give you services/proxy there (docs/access.md). A process that reaches the address acts as you. Host
names of other machines are refused.

Exit codes: 0 stopped by a signal, 1 error.

Examples:
  berth proxy forward shop/web:80 --cluster cluster1 --protocol http
  berth proxy forward monitoring/grafana:https --cluster cluster1 --listen 127.0.0.1:3000
`;

const HEALTH_HELP = `
Asks each cluster what you may do there, and says how long its tunnel is open, how long a ping through it and this request
took, and how old the oldest token is that its ManagedServiceAccounts have. "all" is everything; "write" is something beside
get, list and watch; "read" is only these.

Exit codes: 0 all clusters answer, 1 a cluster does not, or error.

Examples:
  berth proxy health
  berth proxy health --clusters cluster1,cluster2 --service-account default/admin --allowed-in shop
`;

const addProcessFlags = (command: Program, of?: string): Program => addHubFlags(addLogFlags(command), of);

type Program = Parameters<CliCommand['register']>[0];

/** `berth proxy …`: each command loads what it does when it runs. */
export const proxyCommands: CliCommand = {
  register(program, run) {
    addProcessFlags(
      subcommand(program, 'serve', 'serve people and the agents of clusters (runs until stopped)')
        .option('--listen <host:port>', 'where people connect to', '127.0.0.1:9092')
        .option('--agent-listen <host:port>', 'where agents connect to', '127.0.0.1:8091')
        .option('--public-url <url>', 'the address that people use (default: that of --listen)')
        .option(
          '--agent-address <host:port>',
          'the address that agents use (default: that of --agent-listen)',
        )
        .option('--replicas <number>', 'how many of these processes run', '1')
        .option('--namespace <name>', 'namespace of its Secret and its ConfigMap; it exists', NAMESPACE)
        .option('--image <image>', "image of the agent's pod (default: berth in the version of this program)")
        .addHelpText('after', SERVE_HELP),
    ).action(
      run(async (io, flags: ServeFlags) => (await import('./proxy-processes.ts')).serveProxy(io, flags)),
    );
    addProcessFlags(
      subcommand(program, 'agent', "the cluster's end of the tunnel (runs until stopped)")
        .option('--namespace <name>', 'namespace in which the add-on is installed', ADDON_NAMESPACE)
        .addHelpText('after', AGENT_HELP),
      'the managed cluster',
    ).action(
      run(async (io, flags: AgentFlags) => (await import('./proxy-processes.ts')).runProxyAgent(io, flags)),
    );
    addUserFlags(
      subcommand(program, 'kubeconfig', 'print a kubeconfig of a managed cluster, through the hub')
        .requiredOption('--cluster <name>', 'the managed cluster')
        .addHelpText('after', KUBECONFIG_HELP),
    ).action(
      run(async (io, flags: ClusterFlags) =>
        (await import('./proxy-kubeconfig.ts')).printKubeconfig(io, flags),
      ),
    );
    addUserFlags(
      subcommand(program, 'kubectl', 'run kubectl on a managed cluster, through the hub')
        .argument('[args...]', 'arguments of kubectl, after --')
        .requiredOption('--cluster <name>', 'the managed cluster')
        .addHelpText('after', KUBECTL_HELP),
    ).action(
      run(async (io, args: readonly string[], flags: ClusterFlags) =>
        (await import('./proxy-kubeconfig.ts')).runKubectl(io, args, flags),
      ),
    );
    addUserFlags(
      subcommand(program, 'forward', 'a service of a managed cluster on this machine (runs until stopped)')
        .argument('<namespace/service:port>', 'the service, and the number or the name of its port')
        .requiredOption('--cluster <name>', 'the managed cluster')
        .option('--listen <host:port>', 'where to serve it', '127.0.0.1:8080')
        .option('--protocol <protocol>', 'what the service speaks: http, https', 'https')
        .addHelpText('after', FORWARD_HELP),
    ).action(
      run(async (io, service: string, flags: ForwardFlags) =>
        (await import('./proxy-forward.ts')).forwardService(io, service, flags),
      ),
    );
    addUserFlags(
      subcommand(program, 'health', 'which clusters can be reached, and what you may do there')
        .option(
          '--clusters <names>',
          'only these, separated by commas (default: all with the add-on cluster-proxy)',
        )
        .option('--allowed-in <namespace>', 'namespace of the clusters for which rights are shown', 'default')
        .addHelpText('after', HEALTH_HELP),
    ).action(
      run(async (io, flags: HealthFlags) => (await import('./proxy-health.ts')).printHealth(io, flags)),
    );
  },
};

function subcommand(program: Program, name: string, description: string): Program {
  const verb = verbCommand(program, 'proxy', 'reach the API servers of managed clusters through the hub');
  return verb.command(name).description(description);
}

function addUserFlags(command: Program): Program {
  return addHubFlags(
    command
      .option('--server <url>', 'address of the user server (default: as its ConfigMap on the hub says)')
      .option('--certificate-authority <file>', 'with --server: authority of its certificate')
      .option(
        '--service-account <namespace/name>',
        'act as this account of the hub (default: the user of the kubeconfig)',
      )
      .option('--duration <duration>', 'with --service-account: lifetime of its token', '1h')
      .option('--namespace <name>', 'namespace of that ConfigMap', NAMESPACE),
  );
}
