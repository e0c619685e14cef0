import path from 'node:path';
import type { Plan } from '../../../core/preview/plan.ts';
import type { Problem } from '../../../core/model/problem.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../cli-io.ts';
import { type OutputFormat, outputOption, renderDocument } from '../output-format.ts';

interface PlanOptions {
  readonly base: string;
  readonly head: string;
  readonly repo: string;
  readonly path: readonly string[];
  readonly now?: string;
  readonly output: OutputFormat | 'markdown';
}

export const planCommand: CliCommand = {
  register(program, run) {
    program
      .command('plan')
      .description('show what merging one commit into another would move, and why; needs no cluster')
      .requiredOption('--base <ref>', 'what is merged into: a branch, tag or commit')
      .option('--head <ref>', 'what would be merged', 'HEAD')
      .option('--repo <folder>', 'clone or bare repository to read', '.')
      .option(
        '--path <glob>',
        'only manifests that match, `!` in front leaves out; may be repeated',
        collect,
        [],
      )
      .option('--now <time>', 'RFC 3339 time to decide at (default: when the later commit was made)')
      .addOption(outputOption('markdown'))
      .addHelpText('after', HELP)
      .action(run((io, options: PlanOptions) => plan(io, options)));
  },
};

const HELP = `
Exit codes: 0 no changes, 2 changes, 1 errors (in the manifests of the head, or in running).

Examples:
  berth plan --base main --head my-branch
  berth plan --base origin/main -o markdown > comment.md
  berth plan --base v1.4.0 --head HEAD --repo ../fleet --path 'clusters/**' -o json
`;

async function plan(io: CliIo, options: PlanOptions): Promise<ExitCode> {
  const { planRevisions } = await import('../../preview/plan-revisions.ts');
  const result = await planRevisions({
    folder: path.resolve(io.cwd, options.repo),
    base: options.base,
    head: options.head,
    paths: options.path,
    now: options.now,
    ambient: io.env,
  });
  io.stdout.write(await render(result.plan, result.problems, options.output));
  const failed = result.problems.some(({ severity }) => severity === 'error');
  if (result.problems.length > 0 && (options.output === 'table' || options.output === 'markdown')) {
    const { countProblems, renderProblems } = await import('../problem-report.ts');
    io.stderr.write(
      `\nIn ${options.head}: ${countProblems(result.problems)}\n${renderProblems(result.problems, false)}`,
    );
  }
  if (failed) return 1;
  return result.plan.hasChanges ? 2 : 0;
}

async function render(
  result: Plan,
  problems: readonly Problem[],
  format: PlanOptions['output'],
): Promise<string> {
  switch (format) {
    case 'table':
      return (await import('../../../core/preview/render-plan-text.ts')).renderPlanText(result);
    case 'markdown':
      return (await import('../../../core/preview/render-plan-markdown.ts')).renderPlanMarkdown(result);
    case 'json':
    case 'yaml':
      return renderDocument({ ...result, problems }, format);
  }
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
