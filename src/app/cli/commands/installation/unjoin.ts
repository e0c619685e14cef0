import { errorText, InputError, TransientError } from '@berth/runtime/errors';
import { printableLines } from '@berth/runtime/text/printable';
import { APPLIED_MANIFEST_WORK, apiVersionOf, NAMESPACE, SECRET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { AGENT_ACCOUNT } from '../../../../core/rbac/agent-rbac.ts';
import { agentObjects, MANAGED_SECRET } from '../../../../core/registration/install/deployment.ts';
import { klusterletObjects } from '../../../../core/registration/install/operator-objects.ts';
import { AGENT_NAMESPACE } from '@berth/ocm/registration/names';
import { sha256 } from '@berth/runtime/sha256';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub, withServer } from '../../flags/hub-flags.ts';
import { refuseFlags } from '../../flags/option-values.ts';
import type { CliCommand } from '../cli-command.ts';
import {
  AGENT_CLUSTER,
  agentFolder,
  agentRights,
  type InstalledAgent,
  installedAgents,
  unusedDefinitions,
} from './agent-installation.ts';
import { installationOf, waitUntil } from './run-installation.ts';

interface UnjoinFlags extends HubFlags {
  readonly clusterName: string;
  readonly namespace?: string;
  readonly dryRun: boolean;
  readonly timeout: string;
  readonly force: boolean;
}

/** For a deletion that does not end. */
const WAITS_FOR =
  'If that deletion waits, the condition Deleting of the cluster says for what, and berth get clusters on the hub shows its reason: RemovalHeld ends when somebody approves the removal that the message names';

const HELP = `
Stops the agent and removes what berth join wrote. The command refuses to run while ManifestWorks of the hub are applied on the
cluster, because their objects would stay. First run on the hub: kubectl delete managedcluster NAME.

--force is for a cluster that is gone. With the hub's kubeconfig it removes the cluster's registration from the hub, and says
what the cluster keeps. With the kubeconfig of the cluster that hosts the agent (berth join --mode hosted) it removes the agent.
Both are refused while the cluster or its agent answers. A held deletion stays held.

Exit codes: 0 removed, or nothing to do, 1 error: nothing or not everything was removed.

Examples:
  berth unjoin --cluster-name cluster1 --context cluster1
  berth unjoin --cluster-name cluster1 --force --context hub   # the cluster does not exist any more
`;

/** `berth unjoin`: removes the agent of a cluster. */
export const unjoinCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('unjoin')
      .description('remove the agent from a cluster')
      .requiredOption('--cluster-name <name>', 'name of the cluster on the hub')
      .option('-n, --namespace <name>', 'namespace of the agent, if several agents use this cluster name')
      .option(
        '--timeout <duration>',
        'how long to wait until everything is deleted: a duration, or seconds',
        '5m',
      )
      .option('--dry-run', 'print what would be done, and change nothing', false)
      .option(
        '--force',
        'the cluster is gone: remove what is left of it on the hub, or its hosted agent',
        false,
      );
    refuseFlags(addHubFlags(command, AGENT_CLUSTER), {
      'purge-operator': 'there is no operator, and everything of the agent is removed',
    })
      .addHelpText('after', HELP)
      .action(run((io, flags: UnjoinFlags) => withHub(io, flags, (api) => unjoin(io, api, flags))));
  },
};

async function unjoin(io: CliIo, api: KubeApi, flags: UnjoinFlags): Promise<ExitCode> {
  const agent = await chosenAgent(api, flags);
  if (agent === undefined && flags.force) {
    const { forgetCluster } = await import('./forget-cluster.ts');
    return forgetCluster(io, api, flags);
  }
  if (agent === undefined) {
    io.stdout.write(`berth join installed no agent on this cluster: there is nothing to do\n`);
    return 0;
  }
  const mode = await refuseWithWorks(io, api, { ...agent, force: flags.force });
  const { clusterName, namespace } = agent;
  if (flags.dryRun) {
    io.stdout.write(`The agent of ${clusterName} in the namespace ${namespace} would be removed (dry run)\n`);
    return 0;
  }
  const { deleteObjects } = await import('../../../../controllers/installation/apply-objects.ts');
  const { stopBackground } = await import('../../../background/background-process.ts');
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  const folder = agentFolder(io, clusterName, { server: api.server, namespace });
  const pid = await stopBackground(folder, clock);
  if (pid !== undefined) io.stdout.write(`Stopped the agent, process ${String(pid)}\n`);
  const texts = { bootstrapKubeconfig: '', managedKubeconfig: '', options: [], image: '' };
  const pieces = agentObjects({ clusterName, namespace, account: AGENT_ACCOUNT, ...texts });
  const isLast = (await installedAgents(api)).length === 1;
  const definitions = isLast && mode === 'default' ? await unusedDefinitions(api) : [];
  const shown = namespace === AGENT_NAMESPACE ? klusterletObjects(clusterName, namespace) : [];
  const objects = [...definitions, ...shown, ...(await agentRights(mode, agent)), ...pieces];
  await deleteObjects(installationOf(io, api, { installer: 'join', clock }), objects);
  const pending = {
    subject: `Namespace ${namespace}`,
    problem: 'is not deleted yet',
    hint: 'kubectl get namespace -o yaml shows why; run berth unjoin again to continue',
  };
  await waitUntil(io, flags, async () => {
    const there = await api.get(NAMESPACE, { namespace: '', name: namespace });
    return there?.metadata.deletionTimestamp === undefined ? undefined : pending;
  });
  io.stdout.write(
    `The agent of ${clusterName} is removed. If the hub still lists the cluster, run there: kubectl delete managedcluster ${clusterName}\n${WAITS_FOR}\n`,
  );
  return 0;
}

/**
 * Undefined if there is no agent.
 * @throws InputError when there are only other agents, or several with the name
 */
async function chosenAgent(
  api: KubeApi,
  { clusterName, namespace, force }: UnjoinFlags,
): Promise<InstalledAgent | undefined> {
  const all = await installedAgents(api);
  const found = all.filter(
    (agent) => agent.clusterName === clusterName && (namespace ?? agent.namespace) === agent.namespace,
  );
  // With --force this may be the hub, which may have agents of its own.
  if (all.length === 0 || found.length === 1 || (force && found.length === 0)) return found[0];
  const named = (found.length === 0 ? all : found).map((one) => `${one.clusterName} in ${one.namespace}`);
  throw new InputError(
    found.length === 0
      ? `is not an agent of this cluster, expected one of: ${named.join(', ')}`
      : `is the name of several agents: ${named.join(', ')}`,
    { code: 'unjoin.agent', subject: clusterName, hint: 'choose one with --namespace' },
  );
}

/**
 * @returns how the agent was installed
 * @throws InputError while works of the hub are applied on the cluster
 */
async function refuseWithWorks(
  io: CliIo,
  api: KubeApi,
  agent: InstalledAgent & { readonly force: boolean },
): Promise<'default' | 'hosted'> {
  const secret = await api.get(SECRET, { namespace: agent.namespace, name: MANAGED_SECRET });
  const data = secret?.['data'] as Readonly<Record<string, string>> | undefined;
  const managed = data?.['kubeconfig'];
  const text = managed === undefined ? undefined : Buffer.from(managed, 'base64').toString('utf8');
  const works = text === undefined ? await worksOf(api, agent) : await hostedWorks(io, text, agent);
  if (works.length === 0) return text === undefined ? 'default' : 'hosted';
  throw new InputError(
    `${String(works.length)} of its ManifestWorks are applied on the cluster: ${works.join(', ')}`,
    {
      code: 'unjoin.works',
      subject: `hub ${agent.hub}`,
      hint: `run kubectl delete managedcluster ${agent.clusterName} on the hub, which deletes them, or delete them there one by one. ${WAITS_FOR}`,
    },
  );
}

/** The works on a managed cluster that an agent manages from elsewhere; with `force` none if it does not answer. */
async function hostedWorks(
  io: CliIo,
  kubeconfig: string,
  agent: InstalledAgent & { readonly force: boolean },
): Promise<readonly string[]> {
  try {
    return await withServer(io, { text: kubeconfig }, (there) => worksOf(there, agent));
  } catch (error) {
    if (!(error instanceof TransientError) || !agent.force) throw error;
    io.stdout.write(
      printableLines([
        `${agent.clusterName} does not answer, so it keeps what its agent applied, if it still exists: ${errorText(error)}`,
      ]),
    );
    return [];
  }
}

async function worksOf(api: KubeApi, { hub }: InstalledAgent): Promise<readonly string[]> {
  const kind = APPLIED_MANIFEST_WORK;
  if ((await api.resolve(apiVersionOf(kind), kind.kind)) === undefined) return [];
  const { items } = await api.list(kind);
  return items
    .map(({ spec }) => spec as { readonly hubHash?: string; readonly manifestWorkName?: string } | undefined)
    .filter((spec) => spec?.hubHash === sha256(hub))
    .map((spec) => spec?.manifestWorkName ?? '');
}
