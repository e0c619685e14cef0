import type { KubeApi } from '@berth/kube/model/kube-api';
import { printableLines } from '@berth/runtime/text/printable';
import type { Command } from 'commander';
import type { AddOnChange, ChosenClusters } from '../../../../controllers/addons/enabling/enable-addons.ts';
import type { SetChange } from '../../../../controllers/cluster-sets/set-change.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../../terminal/output-format.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { clusterNames, keyValues, nameList, wrongOption } from '../../flags/option-values.ts';
import { type CliCommand, verbCommand } from '../cli-command.ts';
import { readManifests } from '../objects/read-manifests.ts';

interface ClusterFlags extends ChangeFlags {
  readonly names: string;
  readonly cluster?: string;
  readonly clusters?: string;
  readonly allClusters: boolean;
}

interface EnableFlags extends ClusterFlags {
  readonly namespace?: string;
  readonly annotate?: readonly string[];
  readonly labels?: readonly string[];
  readonly configFile?: readonly string[];
}

const ENABLE_HELP = `
An add-on whose installStrategy has placements is on the clusters that they select. The command does not add others.
--namespace has no effect on an add-on of an AddOnTemplate: the template or its AddOnDeploymentConfig says where it runs.
A second run changes only what its flags name. --dry-run -o yaml prints the ManagedClusterAddOns, for Git.

Exit codes: 0 enabled, or nothing to do, 1 error.

Examples:
  berth addon enable --names helloworld --clusters cluster1,cluster2
  berth addon enable --names helloworld --all-clusters --namespace hello
  berth addon enable --names helloworld --clusters cluster1 --config-file config.yaml
  berth addon enable --names helloworld --clusters cluster1 --annotate addon.open-cluster-management.io/hosting-cluster-name=hub
`;

const DISABLE_HELP = `
The agent of the add-on, what it applied and its access to the hub go from the clusters; the output names them. Hooks
before deletion run first. No hold protects them: the command is a person's decision. --dry-run says what would go.
Where a placement selects the cluster, change the placement: the add-on would come back.

Exit codes: 0 removed, or nothing to do, 1 error.

Examples:
  berth addon disable --names helloworld --clusters cluster1 --dry-run
  berth addon disable --names helloworld,observer --clusters cluster1,cluster2
  berth addon disable --names helloworld --all-clusters
`;

export const enableAddonCommand: CliCommand = {
  register(program, run) {
    const command = addClusterFlags(addonCommand(program).command('enable'))
      .description('install add-ons on clusters')
      .option('-n, --namespace <name>', 'where the agent runs (default: open-cluster-management-agent-addon)')
      .option('--annotate <key=value...>', 'annotations of the ManagedClusterAddOns; several with commas')
      .option('--labels <key=value...>', 'labels of the ManagedClusterAddOns; several with commas')
      .option('--config-file <file...>', 'configurations of the add-on: they are applied, and it uses them');
    addChangeFlags(command)
      .addHelpText('after', ENABLE_HELP)
      .action(run((io, flags: EnableFlags) => enable(io, flags)));
  },
};

export const disableAddonCommand: CliCommand = {
  register(program, run) {
    const command = addClusterFlags(addonCommand(program).command('disable')).description(
      'remove add-ons from clusters, with all that they have there',
    );
    addChangeFlags(command)
      .addHelpText('after', DISABLE_HELP)
      .action(run((io, flags: ClusterFlags) => disable(io, flags)));
  },
};

/** `berth addon …` */
export function addonCommand(program: Command): Command {
  return verbCommand(program, 'addon', 'make add-ons, and install them on clusters');
}

function addClusterFlags(command: Command): Command {
  return command
    .requiredOption('--names <names>', 'add-ons, separated by commas')
    .option('--clusters <names>', 'managed clusters, separated by commas')
    .option('-c, --cluster <name>', 'one managed cluster')
    .option('--all-clusters', 'every cluster of the hub', false);
}

function chosenOf({ cluster, clusters, allClusters }: ClusterFlags): ChosenClusters {
  const named = [cluster, clusters].filter((names) => names !== undefined);
  if (allClusters === named.length > 0)
    throw wrongOption('--clusters, --all-clusters', 'expected exactly one of the two');
  return allClusters ? undefined : clusterNames('--clusters', named.join(','));
}

async function enable(io: CliIo, flags: EnableFlags): Promise<ExitCode> {
  const request = {
    names: nameList('--names', flags.names, 'add-ons'),
    clusters: chosenOf(flags),
    namespace: flags.namespace,
    annotations: keyValues('--annotate', flags.annotate),
    labels: keyValues('--labels', flags.labels),
  };
  const manifests = flags.configFile && (await readManifests(io, flags.configFile));
  if (flags.configFile !== undefined && manifests === undefined) return 1;
  const { planEnabling, planConfigurations } = await import(
    '../../../../controllers/addons/enabling/enable-addons.ts'
  );
  return makeChanges(io, flags, async (hub: KubeApi) => {
    if (manifests === undefined) return planEnabling(hub, request);
    const { configs, changes } = await planConfigurations(hub, manifests);
    return [...changes, ...(await planEnabling(hub, { ...request, configs }))];
  });
}

async function disable(io: CliIo, flags: ClusterFlags): Promise<ExitCode> {
  const request = { names: nameList('--names', flags.names, 'add-ons'), clusters: chosenOf(flags) };
  const { planDisabling } = await import('../../../../controllers/addons/enabling/enable-addons.ts');
  return makeChanges(io, flags, (hub) => planDisabling(hub, request));
}

export interface ChangeFlags extends HubFlags {
  readonly dryRun: boolean;
  readonly output: OutputFormat;
}

export function addChangeFlags(command: Command): Command {
  return addHubFlags(
    command
      .option('--dry-run', 'print what would be done, and change nothing', false)
      .addOption(outputOption()),
  );
}

/** Plans everything before the first write, and prints what each write did, or the objects. */
export async function makeChanges(
  io: CliIo,
  flags: ChangeFlags,
  plan: (hub: KubeApi) => Promise<readonly (SetChange | AddOnChange)[]>,
): Promise<ExitCode> {
  const { dryRun, output } = flags;
  await withHub(io, flags, async (hub) => {
    const changes = await plan(hub);
    for (const change of changes) {
      if (!dryRun) await change.apply?.();
      if (output === 'table') io.stdout.write(printableLines(linesOf(change, dryRun)));
    }
    if (output === 'table') return;
    const objects = changes.flatMap((change) => ('object' in change ? [change.object] : []));
    if (output === 'json') io.stdout.write(await renderDocument(objects, 'json'));
    else
      io.stdout.write(
        (await Promise.all(objects.map((object) => renderDocument(object, 'yaml')))).join('---\n'),
      );
  });
  return 0;
}

function linesOf(change: SetChange | AddOnChange, dryRun: boolean): readonly string[] {
  const note = dryRun && change.apply !== undefined ? ' (dry run)' : '';
  const details = 'details' in change ? change.details : [];
  return [`${change.line}${note}`, ...(details ?? []).map((detail) => `  ${detail}`)];
}
