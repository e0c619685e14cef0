import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { addLogFlags, type LogFlags, openLog } from '../../flags/log-flags.ts';
import { type CliCommand, verbCommand } from '../cli-command.ts';
import { packageVersion } from '../version.ts';

interface ServeFlags extends HubFlags, LogFlags {
  readonly image?: string;
  readonly clusterProfiles: boolean;
  readonly namespace: string;
}

interface AgentFlags extends HubFlags, LogFlags {
  readonly namespace: string;
}

const HUB_NAMESPACE = 'open-cluster-management-hub';
const ADDON_NAMESPACE = 'open-cluster-management-agent-addon';

const SERVE_HELP = `
Runs the manager of the add-on managed-serviceaccount, whose agents keep an account in their cluster for each
ManagedServiceAccount, and its token in a Secret of the hub. It deletes accounts with ttlSecondsAfterCreation when their
time is over. One process runs at a time. berth install hub-addon writes its rights and the kind.

Exit codes: 0 stopped by a signal, 1 error.

Examples:
  berth accounts serve --kubeconfig hub.kubeconfig
  berth accounts serve --image registry.example.com/berth:0.1.0   # of the agents in clusters
  berth accounts serve --cluster-profiles   # for tools that know clusters by their ClusterProfile
`;

const AGENT_HELP = `
The add-on managed-serviceaccount runs this in a pod of the cluster. Where a cluster runs no pods, start it yourself with
a kubeconfig of the cluster. The cluster's own agent (berth agent) gets its access to the hub; until it is there this one
waits.

Exit codes: 0 stopped by a signal, 1 error.

Examples:
  berth accounts agent --kubeconfig cluster1.kubeconfig
  berth accounts agent --namespace ${ADDON_NAMESPACE}   # in a pod of the cluster
`;

type Program = Parameters<CliCommand['register']>[0];

/** `berth accounts …`: the two ends of the add-on managed-serviceaccount. */
export const accountCommands: CliCommand = {
  register(program, run) {
    addHubFlags(
      subcommand(program, 'serve', 'bring accounts of clusters to the hub (runs until stopped)')
        .option('--image <image>', "image of the agent's pod (default: berth in the version of this program)")
        .option('--cluster-profiles', 'write ClusterProfiles, and copy tokens beside them', false)
        .option('--namespace <name>', "namespace of the user server's ConfigMap", HUB_NAMESPACE)
        .addHelpText('after', SERVE_HELP),
    ).action(run((io, flags: ServeFlags) => serve(io, flags)));
    addHubFlags(
      subcommand(program, 'agent', "the cluster's end (runs until stopped)")
        .option('--namespace <name>', 'namespace of the add-on and of the accounts', ADDON_NAMESPACE)
        .addHelpText('after', AGENT_HELP),
      'the managed cluster',
    ).action(run((io, flags: AgentFlags) => runAgent(io, flags)));
  },
};

function subcommand(program: Program, name: string, description: string): Program {
  const verb = verbCommand(program, 'accounts', 'keep service accounts of clusters for users of the hub');
  const command = verb.command(name).description(description);
  return addLogFlags(command);
}

async function serve(io: CliIo, flags: ServeFlags): Promise<ExitCode> {
  const image = flags.image ?? `berth:${await packageVersion()}`;
  const { runAccountManager } = await import('@berth/access/server/run-account-manager');
  const shared = await common(io, flags);
  await withHub(io, flags, async (hub) => {
    shared.log.info('the manager of accounts runs', { hub: hub.server });
    const profiles = flags.clusterProfiles ? { namespace: flags.namespace } : undefined;
    await runAccountManager({ hub, image, profiles, ...shared });
  });
  return 0;
}

async function runAgent(io: CliIo, flags: AgentFlags): Promise<ExitCode> {
  const { kubeconfig, context, namespace } = flags;
  const { loadKubeConfig } = await import('@berth/kube/config/load-kube-config');
  const { HttpKubeApi } = await import('@berth/kube/http-kube-api');
  const { runAccountAgent } = await import('@berth/access/agent/run-account-agent');
  const shared = await common(io, flags);
  const config = loadKubeConfig({ file: kubeconfig, context, env: io.env });
  const cluster = new HttpKubeApi({ config, clock: shared.clock });
  try {
    await runAccountAgent({ cluster, config, namespace, ...shared });
  } finally {
    cluster.close();
  }
  return 0;
}

async function common(io: CliIo, flags: LogFlags) {
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  const log = await openLog(io, flags);
  return { clock, random: Math.random, log, signal: io.signal };
}
