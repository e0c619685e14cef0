import { apiVersionOf, MANAGED_CLUSTER, SERVICE_ACCOUNT } from '@berth/kube/model/kinds';
import type { Condition } from '@berth/kube/model/object-meta';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeApi, ServerEndpoints } from '@berth/kube/model/kube-api';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';
import { isJoined } from '../../../../core/registration/health/is-live.ts';
import { BOOTSTRAP_ACCOUNT } from '../../../../core/registration/install/bootstrap-objects.ts';
import { findCondition } from '@berth/kube/model/condition-list';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import {
  outputOption,
  renderDocument,
  renderTextTable,
  type OutputFormat,
} from '../../../terminal/output-format.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { verbCommand, type CliCommand } from '../cli-command.ts';
import { CONTROLLERS, controllersFolder, missingDefinitions } from './hub-installation.ts';

interface HubInfoFlags extends HubFlags {
  readonly output: OutputFormat;
}

const HELP = `
Exit codes: 0 printed, 1 error.

Examples:
  berth get hub-info --context hub
  berth get hub-info -o json
`;

export const getHubInfoCommand: CliCommand = {
  register(program, run) {
    const command = verbCommand(program, 'get', 'list objects of the hub')
      .command('hub-info')
      .description('show what runs on a hub, and whether clusters can join it')
      .addOption(outputOption());
    addHubFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, flags: HubInfoFlags) => withHub(io, flags, (hub) => getHubInfo(io, hub, flags))));
  },
};

async function getHubInfo(
  io: CliIo,
  hub: KubeApi & ServerEndpoints,
  { output }: HubInfoFlags,
): Promise<ExitCode> {
  const info = await hubInfo(io, hub);
  if (output !== 'table') {
    io.stdout.write(await renderDocument(info, output));
    return 0;
  }
  const { clusters, missingKinds, canJoin } = info;
  const rows = [
    ['Server', info.server],
    ['Version', info.version],
    ['Nodes', String(info.nodes)],
    ['Controllers', info.controllers],
    ['Clusters can join', canJoin ? 'yes' : 'no: berth init has not been run'],
    ['Missing kinds', missingKinds.length === 0 ? 'none' : missingKinds.join(', ')],
    [
      'Clusters',
      `${String(clusters.all)}, accepted ${String(clusters.accepted)}, joined ${String(clusters.joined)}, available ${String(clusters.available)}`,
    ],
  ];
  io.stdout.write(renderTextTable(['HUB', ''], rows));
  return 0;
}

interface HubInfo {
  readonly server: string;
  readonly version: string;
  readonly nodes: number;
  /** For display. */
  readonly controllers: string;
  /** Whether the bootstrap service account exists. */
  readonly canJoin: boolean;
  readonly missingKinds: readonly string[];
  readonly clusters: {
    readonly all: number;
    readonly accepted: number;
    readonly joined: number;
    readonly available: number;
  };
}

async function hubInfo(io: CliIo, hub: KubeApi & ServerEndpoints): Promise<HubInfo> {
  const { nodeCount } = await import('../../../../controllers/installation/installed-state.ts');
  const isServed = (await hub.resolve(apiVersionOf(MANAGED_CLUSTER), MANAGED_CLUSTER.kind)) !== undefined;
  const clusters = (isServed ? (await hub.list(MANAGED_CLUSTER)).items : []) as readonly ManagedCluster[];
  const conditionsOf = ({ status }: ManagedCluster): readonly Condition[] | undefined => status?.conditions;
  return {
    server: hub.server,
    version: versionIn((await hub.probe('/version')).text),
    nodes: await nodeCount(hub),
    controllers: await controllersOf(io, hub),
    canJoin: (await hub.get(SERVICE_ACCOUNT, BOOTSTRAP_ACCOUNT)) !== undefined,
    missingKinds: (await missingDefinitions(hub, false)).map(({ metadata }) => metadata.name),
    clusters: {
      all: clusters.length,
      accepted: clusters.filter(({ spec }) => spec?.hubAcceptsClient === true).length,
      joined: clusters.filter(isJoined).length,
      available: clusters.filter((one) => findCondition(conditionsOf(one), AVAILABLE)?.status === 'True')
        .length,
    },
  };
}

function versionIn(text: string): string {
  const { gitVersion } = JSON.parse(text) as { readonly gitVersion?: string };
  return gitVersion ?? '';
}

async function controllersOf(io: CliIo, hub: KubeApi): Promise<string> {
  const { hasOcmOperator, findOtherControllers, podsOf } = await import(
    '../../../../controllers/installation/installed-state.ts'
  );
  const { systemClock } = await import('@berth/runtime/clock/system-clock');
  const { logOf, runningPid } = await import('../../../background/background-process.ts');
  const folder = controllersFolder(io, hub.server);
  const pid = runningPid(folder);
  const pods = await podsOf(hub, CONTROLLERS);
  const found = [
    ...((await hasOcmOperator(hub)) ? ['OCM’s cluster manager'] : []),
    ...(await findOtherControllers(hub, systemClock.now())).map(
      ({ name, lease }) => `${name} (Lease ${lease})`,
    ),
    ...(pods === undefined
      ? []
      : [
          `Deployment ${CONTROLLERS.namespace}/${CONTROLLERS.name} (${String(pods.available)}/${String(pods.wanted)}) ${pods.image}`,
        ]),
    ...(pid === undefined ? [] : [`process ${String(pid)} on this machine, log ${logOf(folder)}`]),
  ];
  return found.length === 0 ? 'none that berth init started' : found.join('; ');
}
