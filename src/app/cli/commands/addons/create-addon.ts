import type { ManifestAddOn } from '../../../../core/addon/enabling/addon-of-manifests.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { keyValues, namespaceAndName, wrongOption, wrongValue } from '../../flags/option-values.ts';
import type { CliCommand } from '../cli-command.ts';
import { readManifests, refuseBadWork } from '../objects/read-manifests.ts';
import { addChangeFlags, addonCommand, type ChangeFlags, makeChanges } from './enable-addon.ts';

interface CreateFlags extends ChangeFlags {
  readonly filename: readonly string[];
  readonly version: string;
  readonly overwrite: boolean;
  readonly hubRegistration: boolean;
  readonly clusterRoleBind?: string;
  readonly labels?: readonly string[];
  readonly placementRef?: string;
}

const HELP = `
Writes an AddOnTemplate NAME-VERSION with the manifests, and the ClusterManagementAddOn NAME that uses it. Strings such as
{{CLUSTER_NAME}} are replaced on each cluster: berth addon render shows how. A new version is rolled out; a template that
is overwritten changes on all clusters that use it. --dry-run -o yaml prints both, for Git.

Exit codes: 0 created, or nothing to do, 1 error.

Examples:
  berth addon create helloworld -f deployment.yaml
  berth addon create helloworld -f manifests/ --version 0.0.2 --overwrite      # clusters move to the new version
  berth addon create helloworld -f manifests/ --hub-registration --cluster-role-bind helloworld-agent
  berth addon create helloworld -f manifests/ --placement-ref default/placement1
  berth addon create helloworld -f manifests/ --dry-run -o yaml > addon.yaml
`;

export const createAddonCommand: CliCommand = {
  register(program, run) {
    const command = addonCommand(program)
      .command('create <name>')
      .description('make an add-on of manifests')
      .requiredOption('-f, --filename <path...>', 'YAML or JSON files, or folders of them')
      .option('--version <version>', 'version of the add-on', '0.0.1')
      .option('--overwrite', 'change what the hub has', false)
      .option('--hub-registration', 'give the agent an access to the hub', false)
      .option(
        '--cluster-role-bind <name>',
        'a ClusterRole of the hub, for the agent in the namespace of its cluster',
      )
      .option('--labels <key=value...>', 'labels of both objects; several with commas')
      .option('--placement-ref <namespace/name>', 'install it on the clusters that a Placement selects');
    addChangeFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, name: string, flags: CreateFlags) => create(io, name, flags)));
  },
};

async function create(io: CliIo, name: string, flags: CreateFlags): Promise<ExitCode> {
  const { filename, version, overwrite, hubRegistration: registers, clusterRoleBind: clusterRole } = flags;
  const url = filename.find((file) => /^https?:/.test(file));
  if (url !== undefined) throw wrongValue('--filename', url, 'a file or a folder: download it first');
  if (clusterRole !== undefined && !registers)
    throw wrongOption(
      '--cluster-role-bind',
      'needs --hub-registration: only a client of the hub has rights there',
    );
  const labels = keyValues('--labels', flags.labels);
  const placement =
    flags.placementRef === undefined ? undefined : namespaceAndName('--placement-ref', flags.placementRef);
  const manifests = await readManifests(io, filename);
  if (manifests === undefined) return 1;
  await refuseBadWork(`add-on ${name}`, manifests);
  const addOn: ManifestAddOn = { name, version, manifests, labels, registers, clusterRole, placement };
  const { planCreation } = await import('../../../../controllers/addons/enabling/create-addon.ts');
  return makeChanges(io, flags, (hub) => planCreation(hub, addOn, overwrite));
}
