import { InputError } from '@berth/runtime/errors';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { describeWork } from '../../../../core/work/describe-work.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { verbCommand, type CliCommand } from '../cli-command.ts';

interface DescribeWorkFlags extends HubFlags {
  readonly cluster?: string;
}

const EXAMPLES = `
Exit codes: 0 described, 1 error.

Examples:
  berth describe work my-first-work --cluster cluster1
  berth describe work my-first-work                     # on every cluster that has it
`;

export const describeWorkCommand: CliCommand = {
  register(program, run) {
    const command = verbCommand(program, 'describe', 'describe objects of the hub')
      .command('work <name>')
      .description('show a ManifestWork: conditions, each manifest, its feedback and what failed')
      .option('--cluster <name>', 'managed cluster (default: every cluster that has a work of this name)');
    addHubFlags(command)
      .addHelpText('after', EXAMPLES)
      .action(run((io, name: string, flags: DescribeWorkFlags) => describe(io, name, flags)));
  },
};

async function describe(io: CliIo, name: string, flags: DescribeWorkFlags): Promise<ExitCode> {
  const { items } = await withHub(io, flags, (hub) =>
    hub.list(MANIFEST_WORK, flags.cluster === undefined ? {} : { namespace: flags.cluster }),
  );
  const found = items.filter(({ metadata }) => metadata.name === name) as unknown as readonly ManifestWork[];
  if (found.length === 0)
    throw new InputError(
      `no such ManifestWork${flags.cluster === undefined ? '' : ` on cluster ${flags.cluster}`}`,
      {
        code: 'kube.notfound',
        subject: name,
      },
    );
  io.stdout.write(found.map(describeWork).join('\n'));
  return 0;
}
