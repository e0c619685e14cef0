import path from 'node:path';
import type { Problem } from '../../../../core/model/problem.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags } from '../../flags/hub-flags.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../../terminal/output-format.ts';
import { addSettingsFlags, checkSettingsFlags, collect, type SettingsFlags } from './settings-sources.ts';
import { writePainted } from '../../../terminal/terminal-output.ts';
import { wrongOption } from '../../flags/wrong-option.ts';

interface ValidateOptions extends SettingsFlags {
  readonly output: OutputFormat;
  readonly strict: boolean;
  readonly expectKind: readonly string[];
}

export const validateCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('validate')
      .description('check manifests: syntax, fields, and what they mean together; and the settings file')
      .argument(
        '[folder]',
        'folder of manifests, or one file; without it the sources of --config are fetched',
      )
      .option('--path <glob>', 'only what matches, `!` in front leaves out; may be repeated', collect, [])
      .option('--strict', 'warnings count as errors', false)
      .option(
        '--expect-kind <group/kind>',
        'a kind that the hub serves though nothing here defines it; may be repeated',
        collect,
        [],
      )
      .addOption(outputOption());
    addHubFlags(addSettingsFlags(command))
      .addHelpText('after', HELP)
      .action(
        run((io, folder: string | undefined, options: ValidateOptions) => validate(io, folder, options)),
      );
  },
};

const HELP = `
Exit codes: 0 no errors, 1 errors.

Examples:
  berth validate .
  berth validate fleet --path 'teams/**' --path '!**/drafts/**'
  berth validate fleet/web.yaml -o json
  berth validate . --expect-kind cert-manager.io/Certificate
  berth validate . --config sources.yaml --source fleet     # the paths of that source
  berth validate --config sources.yaml                      # every source, as berth serve reads it
`;

async function validate(io: CliIo, folder: string | undefined, options: ValidateOptions): Promise<ExitCode> {
  checkSettingsFlags(options);
  if (folder !== undefined) return validateFolder(io, folder, options);
  if (options.config === undefined)
    throw wrongOption('folder', 'got nothing, expected a folder, or --config');
  const { validateSources } = await import('./validate-sources.ts');
  return validateSources(io, { ...options, config: options.config });
}

async function validateFolder(io: CliIo, folder: string, options: ValidateOptions): Promise<ExitCode> {
  const { readFleetFolder } = await import('../../../../controllers/sources/reading/read-fleet-folder.ts');
  const { checkFleet } = await import('../../../../controllers/sources/manifests/check-fleet.ts');
  const { requireManifests } = await import('../../../../controllers/sources/manifests/require-manifests.ts');
  const paths = await pathsOf(io, options);
  const fleet = await readFleetFolder(path.resolve(io.cwd, folder), {
    paths,
    signal: io.signal,
    cwd: io.cwd,
  });
  requireManifests([fleet], folder, paths);
  const { checkKinds } = await import('../../../../core/sources/check-kinds.ts');
  const { servedKinds } = await import('./expected-kinds.ts');
  const servedIn = servedKinds(options.expectKind);
  const problems = await checkFleet(fleet, undefined, (objects) => checkKinds(objects, servedIn(objects)));
  const failed = problems.some(({ severity }) => severity === 'error' || options.strict);
  const summary = { valid: !failed, files: fleet.files, objects: fleet.objects.length, problems };
  if (options.output === 'table') await writeTable(io, problems, fleet);
  else io.stdout.write(await renderDocument(summary, options.output));
  return failed ? 1 : 0;
}

async function pathsOf(
  io: CliIo,
  { config, source, path: globs }: ValidateOptions,
): Promise<readonly string[]> {
  if (config === undefined) return globs;
  const { readSettings } = await import('../../../settings/read-settings.ts');
  const { chooseSources } = await import('../../../settings/choose-sources.ts');
  const chosen = chooseSources(await readSettings(path.resolve(io.cwd, config)), source, 'only');
  const [only, second] = chosen;
  if (second !== undefined)
    throw wrongOption('--source', 'got several, expected one: a folder is checked as one source');
  return only?.paths ?? [];
}

async function writeTable(
  io: CliIo,
  problems: readonly Problem[],
  fleet: { readonly files: number; readonly objects: readonly unknown[] },
): Promise<void> {
  const { countProblems, renderProblems } = await import('../../../terminal/problem-report.ts');
  writePainted(io.stdout, renderProblems(problems, io.colour));
  io.stdout.write(`${fleet.files} files, ${fleet.objects.length} objects: ${countProblems(problems)}\n`);
}
