import type { Command } from 'commander';
import { printable } from '@berth/runtime/text/printable';
import type { SetChange } from '../../../../controllers/cluster-sets/set-change.ts';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { clusterNames } from '../../flags/option-values.ts';
import { verbCommand, type CliCommand, type RunAction } from '../cli-command.ts';

interface ClusterSetFlags extends HubFlags {
  readonly dryRun: boolean;
}

interface Verb<Flags extends ClusterSetFlags> {
  readonly word: string;
  readonly description: string;
  readonly example: string;
  readonly addOptions?: (command: Command) => Command;
  readonly plan: (hub: KubeApi, set: string, flags: Flags) => Promise<readonly SetChange[]>;
}

type ClustersFlags = ClusterSetFlags & { readonly clusters: string };
type NamespaceFlags = ClusterSetFlags & { readonly namespace: string };

const addClusters = (command: Command): Command =>
  command.requiredOption('--clusters <names>', 'managed clusters, separated by commas');
const addNamespace = (command: Command): Command =>
  command.option('-n, --namespace <name>', 'the namespace of Placements', 'default');

/** `berth clusterset …`: checks everything before the first write. A second run changes nothing. */
export const clusterSetCommand: CliCommand = {
  register(program, run) {
    const parent = verbCommand(
      program,
      'clusterset',
      'create cluster sets, add clusters, and bind sets to namespaces',
    );
    addVerb(parent, run, {
      word: 'create',
      description: 'create a set of the clusters that have its label',
      example: 'create gpu',
      plan: async (hub, set) => [await (await creation()).planCreation(hub, set)],
    });
    addVerb(parent, run, {
      word: 'delete',
      description: 'delete a set that is bound to no namespace',
      example: 'delete gpu',
      plan: async (hub, set) => [await (await creation()).planDeletion(hub, set)],
    });
    addVerb<ClustersFlags>(parent, run, {
      word: 'set',
      description: 'add clusters to a set; a cluster leaves its previous set',
      example: 'set gpu --clusters cluster1,cluster2',
      addOptions: addClusters,
      plan: async (hub, set, { clusters }) =>
        (await assignment()).planAssignment(hub, set, clusterNames('--clusters', clusters)),
    });
    addVerb<ClustersFlags>(parent, run, {
      word: 'unset',
      description: 'remove clusters from a set',
      example: 'unset gpu --clusters cluster1',
      addOptions: addClusters,
      plan: async (hub, set, { clusters }) =>
        (await assignment()).planRemoval(hub, set, clusterNames('--clusters', clusters)),
    });
    addVerb<NamespaceFlags>(parent, run, {
      word: 'bind',
      description: 'bind a set to a namespace, so that its Placements may select from the set',
      example: 'bind gpu --namespace team-a',
      addOptions: addNamespace,
      plan: async (hub, set, { namespace }) => [await (await binding()).planBinding(hub, set, namespace)],
    });
    addVerb<NamespaceFlags>(parent, run, {
      word: 'unbind',
      description: 'remove the binding of a set to a namespace',
      example: 'unbind gpu --namespace team-a',
      addOptions: addNamespace,
      plan: async (hub, set, { namespace }) => [await (await binding()).planUnbinding(hub, set, namespace)],
    });
  },
};

const creation = async () => import('../../../../controllers/cluster-sets/set-change.ts');
const assignment = async () => import('../../../../controllers/cluster-sets/set-change.ts');
const binding = async () => import('../../../../controllers/cluster-sets/set-change.ts');

function addVerb<Flags extends ClusterSetFlags>(parent: Command, run: RunAction, verb: Verb<Flags>): void {
  const { word, description, example, addOptions = (command) => command, plan } = verb;
  const command = parent
    .command(`${word} <set>`)
    .description(description)
    .option('--dry-run', 'print what would be done, and change nothing', false);
  addHubFlags(addOptions(command))
    .addHelpText(
      'after',
      `\nExit codes: 0 done or nothing to do, 1 error.\n\nExamples:\n  berth clusterset ${example}\n`,
    )
    .action(run((io, set: string, flags: Flags) => change(io, flags, (hub) => plan(hub, set, flags))));
}

async function change(
  io: CliIo,
  flags: ClusterSetFlags,
  plan: (hub: KubeApi) => Promise<readonly SetChange[]>,
): Promise<ExitCode> {
  await withHub(io, flags, async (hub) => {
    for (const { line, apply } of await plan(hub)) {
      if (!flags.dryRun) await apply?.();
      io.stdout.write(`${printable(line)}${flags.dryRun ? ' (dry run)' : ''}\n`);
    }
  });
  return 0;
}
