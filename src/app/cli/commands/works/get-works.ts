import { MANIFEST_WORK } from '../../../../core/model/kinds.ts';
import type { ManifestWork } from '../../../../core/model/kind/manifest-work.ts';
import { InputError } from '../../../../core/errors.ts';
import { workRow } from '../../../../core/work/describe-work.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { verbCommand } from '../verb-command.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../../terminal/output-format.ts';
import { formatAge, renderTextTable } from '../../../terminal/text-table.ts';

interface GetWorksFlags extends HubFlags {
  readonly cluster?: string;
  readonly output: OutputFormat;
}

const HELP = `
Exit codes: 0 listed, 1 error.

Examples:
  berth get works                              # every work of every cluster
  berth get works --cluster cluster1
  berth get works my-first-work -o json
`;

export const getWorksCommand: CliCommand = {
  register(program, run) {
    const command = verbCommand(program, 'get', 'list objects of the hub')
      .command('works [name]')
      .alias('work')
      .description('list ManifestWorks: where they are, whether they are applied, available and degraded')
      .option('--cluster <name>', 'only of this managed cluster')
      .addOption(outputOption());
    addHubFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, name: string | undefined, flags: GetWorksFlags) => getWorks(io, name, flags)));
  },
};

async function getWorks(io: CliIo, name: string | undefined, flags: GetWorksFlags): Promise<ExitCode> {
  const { systemClock } = await import('../../../../adapters/clock/system-clock.ts');
  const works = await withHub(io, flags, async (hub) => {
    const { items } = await hub.list(
      MANIFEST_WORK,
      flags.cluster === undefined ? {} : { namespace: flags.cluster },
    );
    return items.filter(({ metadata }) => name === undefined || metadata.name === name);
  });
  if (works.length === 0 && name !== undefined)
    throw new InputError(
      `no such ManifestWork${flags.cluster === undefined ? '' : ` on cluster ${flags.cluster}`}`,
      {
        code: 'kube.notfound',
        subject: name,
      },
    );
  if (flags.output !== 'table') {
    io.stdout.write(await renderDocument(works, flags.output));
    return 0;
  }
  const rows = works.map((work) => [
    ...workRow(work as unknown as ManifestWork),
    formatAge(systemClock.now() - Date.parse(work.metadata.creationTimestamp ?? '')),
  ]);
  io.stdout.write(
    works.length === 0
      ? 'no works\n'
      : renderTextTable(['CLUSTER', 'NAME', 'MANIFESTS', 'APPLIED', 'AVAILABLE', 'DEGRADED', 'AGE'], rows),
  );
  return 0;
}
