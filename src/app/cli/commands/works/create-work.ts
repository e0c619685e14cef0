import { InputError } from '@berth/runtime/errors';
import { printableLines } from '@berth/runtime/text/printable';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { NamedWorksPlan } from '../../../../core/work/named-works.ts';
import type { NamedWorkRequest, WorkTarget } from '../../../../controllers/works/create-named-work.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { clusterNames, namespaceAndName, wrongOption } from '../../flags/option-values.ts';
import { verbCommand, type CliCommand } from '../cli-command.ts';
import { readManifests, refuseBadWork } from '../objects/read-manifests.ts';

interface CreateWorkFlags extends HubFlags {
  readonly filename: readonly string[];
  readonly clusters?: string;
  readonly placement?: string;
  readonly overwrite: boolean;
  readonly replicaset: boolean;
  readonly dryRun: boolean;
}

const EXAMPLES = `
Exit codes: 0 done, 1 error: nothing was written, or the output names what failed.

Examples:
  berth create work web -f web.yaml --clusters cluster1,cluster2
  berth create work web -f manifests/ --placement default/placement1              # the clusters that it selects now
  berth create work web -f manifests/ --placement default/placement1 --overwrite  # new content, or a new decision
  berth create work web -f manifests/ --placement default/placement1 --replicaset # follows the placement
`;

export const createWorkCommand: CliCommand = {
  register(program, run) {
    const command = verbCommand(program, 'create', 'create objects on the hub')
      .command('work <name>')
      .description('create ManifestWorks, which deliver manifests to clusters')
      .requiredOption('-f, --filename <path...>', 'YAML or JSON files, or folders of them')
      .option('--clusters <names>', 'managed clusters, separated by commas')
      .option('--placement <namespace/name>', 'the clusters that a Placement selects')
      .option(
        '--overwrite',
        'change existing works; with --placement also remove them from clusters that it no longer selects',
        false,
      )
      .option(
        '--replicaset',
        'with --placement: create a ManifestWorkReplicaSet, which follows the placement',
        false,
      )
      .option('--dry-run', 'print what would be done, and change nothing', false);
    addHubFlags(command)
      .addHelpText('after', EXAMPLES)
      .action(run((io, name: string, flags: CreateWorkFlags) => createWork(io, name, flags)));
  },
};

async function createWork(io: CliIo, name: string, flags: CreateWorkFlags): Promise<ExitCode> {
  const target = targetOf(flags);
  const manifests = await readManifests(io, flags.filename);
  if (manifests === undefined) return 1;
  const request = { name, target, specs: await specsOf(name, manifests), overwrite: flags.overwrite };
  return withHub<ExitCode>(io, flags, async (hub) => {
    const works = await import('../../../../controllers/works/create-named-work.ts');
    if (flags.replicaset) {
      const done = flags.dryRun ? 'would be written' : await works.createReplicaSet(hub, placed(request));
      io.stdout.write(`manifestworkreplicaset ${placed(request).target.namespace}/${name} ${done}\n`);
      return 0;
    }
    const plan = await works.planNamedWork(hub, request);
    if (!flags.dryRun) await works.applyNamedWork(hub, plan);
    io.stdout.write(renderPlan(plan, flags.dryRun));
    return 0;
  });
}

function targetOf({ clusters, placement, replicaset }: CreateWorkFlags): WorkTarget {
  if ((clusters === undefined) === (placement === undefined))
    throw wrongOption('--clusters, --placement', 'expected exactly one of the two');
  if (placement !== undefined) return { type: 'placement', ...namespaceAndName('--placement', placement) };
  if (replicaset) throw wrongOption('--replicaset', 'needs --placement: a replica set follows a placement');
  return { type: 'clusters', clusters: clusterNames('--clusters', clusters ?? '') };
}

type PlacedRequest = NamedWorkRequest & { readonly target: Extract<WorkTarget, { type: 'placement' }> };

function placed(request: NamedWorkRequest): PlacedRequest {
  const { target } = request;
  if (target.type !== 'placement') throw wrongOption('--replicaset', 'needs --placement');
  return { ...request, target };
}

async function specsOf(name: string, manifests: readonly KubeObject[]): Promise<NamedWorkRequest['specs']> {
  const { splitManifests } = await import('../../../../core/work/manifests/inline-manifests.ts');
  const split = splitManifests(manifests);
  if (!split.ok)
    throw new InputError(
      `manifest ${split.index} has ${split.sizeBytes} bytes, more than one work can contain`,
      {
        code: 'work.too-large',
        subject: `Work ${name}`,
      },
    );
  await refuseBadWork(`Work ${name}`, manifests);
  return split.parts.map((part) => ({ workload: { manifests: part } }));
}

function renderPlan(plan: NamedWorksPlan, dryRun: boolean): string {
  const line = (done: string) => (work: { metadata: { name: string; namespace?: string | undefined } }) =>
    `manifestwork ${work.metadata.namespace ?? ''}/${work.metadata.name} ${done}${dryRun ? ' (dry run)' : ''}`;
  const lines = [
    ...plan.create.map(line('created')),
    ...plan.update.map(({ current }) => line('changed')(current)),
    ...(plan.skipped ?? []).map(line('not created, because its cluster is being deleted')),
    ...plan.unchanged.map(line('unchanged')),
    ...plan.remove.map(line('deleted')),
  ];
  return lines.length === 0 ? '' : printableLines(lines);
}
