import path from 'node:path';
import type { Problem } from '@berth/runtime/problem/problem';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags } from '../../flags/hub-flags.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../../terminal/output-format.ts';
import {
  addSettingsFlags,
  checkSettingsFlags,
  collectValues,
  type SettingsFlags,
} from './settings-sources.ts';
import { messageLines, writePainted } from '../../../terminal/terminal-output.ts';
import { wrongOption } from '../../flags/option-values.ts';

interface ValidateOptions extends SettingsFlags {
  readonly output: OutputFormat;
  readonly strict: boolean;
  readonly expectKind: readonly string[];
}

export const validateCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('validate')
      .description('check manifests (syntax, fields, references) and the settings file')
      .argument('[folder]', 'folder of manifests, or one file (default: fetch the sources of --config)')
      .option(
        '--path <glob>',
        'check only files that match; `!` in front excludes; may be repeated',
        collectValues,
        [],
      )
      .option('--strict', 'warnings count as errors', false)
      .option(
        '--expect-kind <group/kind>',
        'a kind that the hub serves although no manifest defines it; may be repeated',
        collectValues,
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
  const { readSourceFolder } = await import('../../../../controllers/sources/reading/read-source-folder.ts');
  const { checkContent } = await import('../../../../controllers/sources/manifests/check-content.ts');
  const { requireManifests } = await import('../../../../controllers/sources/manifests/source-content.ts');
  const { paths, kinds } = await sourceOf(io, options);
  const content = await readSourceFolder(path.resolve(io.cwd, folder), {
    paths,
    signal: io.signal,
    cwd: io.cwd,
  });
  requireManifests([content], folder, paths);
  const { assumedAbout, manifestChecks } = await import('./validate-sources.ts');
  const check = manifestChecks(options.expectKind);
  const { checkRulesFile } = await import('../../../../controllers/previews/rules/check-rules-file.ts');
  const problems = [
    ...(await checkContent(content, undefined, (objects) => check(objects, kinds))),
    ...(await checkRulesFile(path.resolve(io.cwd, folder))),
  ];
  const failed = problems.some(({ severity }) => severity === 'error' || options.strict);
  const assumed = await assumedAbout(content.objects);
  const summary = {
    valid: !failed,
    files: content.files,
    objects: content.objects.length,
    problems,
    assumed,
  };
  if (options.output === 'table') await writeTable(io, { ...content, problems, assumed });
  else io.stdout.write(await renderDocument(summary, options.output));
  return failed ? 1 : 0;
}

/** The content of the folder, and the kinds that its source lists, if known. */
async function sourceOf(
  io: CliIo,
  { config, source, path: globs }: ValidateOptions,
): Promise<{ readonly paths: readonly string[]; readonly kinds?: readonly string[] }> {
  if (config === undefined) return { paths: globs };
  const { readSettings, selectSources } = await import('../../../settings/read-settings.ts');
  const chosen = selectSources(await readSettings(path.resolve(io.cwd, config)), source, 'only');
  const [only, second] = chosen;
  if (second !== undefined)
    throw wrongOption('--source', 'can be given only once with a folder, which is checked as one source');
  return { paths: only?.paths ?? [], kinds: only?.sync === 'observe' ? ['*'] : (only?.kinds ?? []) };
}

interface CheckedFolder {
  readonly files: number;
  readonly objects: readonly unknown[];
  readonly problems: readonly Problem[];
  readonly assumed: readonly string[];
}

async function writeTable(io: CliIo, { files, objects, problems, assumed }: CheckedFolder): Promise<void> {
  const { countProblems, renderProblems } = await import('../../../terminal/problem-report.ts');
  const { formatCount } = await import('../../../../core/preview/plan-text.ts');
  writePainted(io.stdout, renderProblems(problems, io.colour));
  for (const sentence of assumed) io.stdout.write(messageLines('assumed', sentence));
  io.stdout.write(
    `${formatCount(files, 'file')}, ${formatCount(objects.length, 'object')}: ${countProblems(problems)}\n`,
  );
}
