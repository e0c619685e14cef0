import path from 'node:path';
import type { Problem } from '../../../core/model/problem.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../cli-io.ts';
import { type OutputFormat, outputOption, renderDocument } from '../output-format.ts';

interface ValidateOptions {
  readonly output: OutputFormat;
  readonly path: readonly string[];
  readonly strict: boolean;
}

export const validateCommand: CliCommand = {
  register(program, run) {
    program
      .command('validate')
      .description('check the manifests of a folder: syntax, fields, and what they mean together')
      .argument('<folder>', 'folder of manifests, or one file')
      .option('--path <glob>', 'only what matches, `!` in front leaves out; may be repeated', collect, [])
      .option('--strict', 'warnings count as errors', false)
      .addOption(outputOption())
      .addHelpText('after', HELP)
      .action(run((io, folder: string, options: ValidateOptions) => validate(io, folder, options)));
  },
};

const HELP = `
Exit codes: 0 no errors, 1 errors.

Examples:
  berth validate .
  berth validate fleet --path 'teams/**' --path '!**/drafts/**'
  berth validate fleet/web.yaml -o json
`;

async function validate(io: CliIo, folder: string, options: ValidateOptions): Promise<ExitCode> {
  const { readFleetFolder } = await import('../../fleet/read-fleet-folder.ts');
  const { checkFleet } = await import('../../fleet/check-fleet.ts');
  const fleet = await readFleetFolder(path.resolve(io.cwd, folder), {
    paths: options.path,
    signal: io.signal,
    cwd: io.cwd,
  });
  const problems = await checkFleet(fleet);
  const failed = problems.some(({ severity }) => severity === 'error' || options.strict);
  const summary = { valid: !failed, files: fleet.files, objects: fleet.objects.length, problems };
  if (options.output === 'table') await writeTable(io, problems, fleet);
  else io.stdout.write(await renderDocument(summary, options.output));
  return failed ? 1 : 0;
}

async function writeTable(
  io: CliIo,
  problems: readonly Problem[],
  fleet: { readonly files: number; readonly objects: readonly unknown[] },
): Promise<void> {
  const { countProblems, renderProblems } = await import('../problem-report.ts');
  io.stdout.write(renderProblems(problems, io.colour));
  io.stdout.write(`${fleet.files} files, ${fleet.objects.length} objects: ${countProblems(problems)}\n`);
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
