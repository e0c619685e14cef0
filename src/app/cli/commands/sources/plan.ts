import path from 'node:path';
import type { Plan } from '../../../../core/preview/plan.ts';
import type { Problem } from '../../../../core/model/problem.ts';
import type { PlanRevisionsInput } from '../../../../controllers/previews/plan-revisions.ts';
import type { KubeApi } from '../../../../core/ports.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import {
  addHubFlags,
  decidedPlacements,
  EMBEDDED_HELP,
  isHubRequested,
  withHub,
} from '../../flags/hub-flags.ts';
import { type Progress, makeProgress } from '../../../terminal/progress.ts';
import { addSettingsFlags, collectValues, type SettingsFlags } from './settings-sources.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../../terminal/output-format.ts';

interface PlanOptions extends SettingsFlags {
  readonly hub: boolean;
  readonly embedded: boolean;
  readonly kind?: readonly string[];
  readonly base: string;
  readonly head: string;
  readonly repo: string;
  readonly fromMergeBase: boolean;
  readonly now?: string;
  readonly output: OutputFormat | 'markdown';
}

export const planCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('plan')
      .description(
        'show what merging one commit into another would move, and why; needs no cluster, but can use one',
      )
      .requiredOption('--base <ref>', 'target of the merge: a branch, tag or commit')
      .option('--head <ref>', 'what is merged: a branch, tag or commit', 'HEAD')
      .option('--repo <folder>', 'clone or bare repository to read', '.')
      .option(
        '--path <glob>',
        'only manifests that match, `!` in front leaves out; may be repeated',
        collectValues,
        [],
      )
      .option(
        '--kind <group/kind...>',
        'objects of this kind are applied to the hub too, as with berth serve --kind; * for all',
      )
      .option('--from-merge-base', 'show the head alone, from where it branched off', false)
      .option('--hub', 'on what a hub holds now: its clusters, scores and published decisions', false)
      .option('--embedded', EMBEDDED_HELP, false)
      .option(
        '--now <time>',
        'RFC 3339 time to decide at (default: when the later commit was made; with a hub: now)',
      )
      .addOption(outputOption('markdown'));
    addHubFlags(addSettingsFlags(command))
      .addHelpText('after', HELP)
      .action(run((io, options: PlanOptions) => plan(io, options)));
  },
};

const HELP = `
Exit codes: 0 no changes, 1 errors in the manifests of the head, or plan failed, 2 changes.

Examples:
  berth plan --base main --head my-branch
  berth plan --base origin/main -o markdown > comment.md
  berth plan --base main --head my-branch --hub --kubeconfig hub.kubeconfig
  berth plan --base main --head my-branch --config sources.yaml --source fleet
  berth plan --base v1.4.0 --head HEAD --repo ../fleet --path 'clusters/**' -o json
`;

async function plan(io: CliIo, options: PlanOptions): Promise<ExitCode> {
  const decides = decidedPlacements(options);
  const { planRevisions } = await import('../../../../controllers/previews/plan-revisions.ts');
  const progress = makeProgress(io);
  const { planSources } = await import('./plan-sources.ts');
  const sources = await planSources(io, options, progress.tell).finally(progress.done);
  const names = sources.sources.map(({ name }) => name);
  const planOn = (hub: HubPart): ReturnType<typeof planRevisions> =>
    planRevisions({
      folder: path.resolve(io.cwd, options.repo),
      base: options.base,
      head: options.head,
      ...sources,
      fromMergeBase: options.fromMergeBase,
      now: options.now ?? hub.hub?.now,
      ...hub,
      decides,
      ambient: io.env,
      tell: progress.tell,
    });
  const result = await (isHubRequested(options)
    ? withHub(io, options, async (api) => planOn(await readHub(api, options, names, progress)))
    : planOn({})
  ).finally(progress.done);
  io.stdout.write(await render(result.plan, result.problems, options.output));
  const failed = result.problems.some(({ severity }) => severity === 'error');
  if (result.problems.length > 0 && (options.output === 'table' || options.output === 'markdown')) {
    const { countProblems, renderProblems } = await import('../../../terminal/problem-report.ts');
    io.stderr.write(
      `\nIn ${options.head}: ${countProblems(result.problems)}\n${renderProblems(result.problems, false)}`,
    );
  }
  if (failed) return 1;
  return result.plan.hasChanges ? 2 : 0;
}

type HubPart = Pick<PlanRevisionsInput, 'hub' | 'hubMemory' | 'hubApi'>;

async function readHub(
  hubApi: KubeApi,
  options: PlanOptions,
  sources: readonly string[],
  progress: Progress,
): Promise<HubPart> {
  const { readHubSnapshot } = await import('../../../../controllers/explanations/hub-snapshot.ts');
  const { readRecordedHubState } = await import('../../../../controllers/previews/recorded-hub-state.ts');
  progress.tell('reading the hub');
  return {
    hub: await readHubSnapshot(hubApi, options.now ?? new Date().toISOString()),
    hubMemory: await readRecordedHubState(hubApi, sources),
    hubApi,
  };
}

async function render(
  result: Plan,
  problems: readonly Problem[],
  format: PlanOptions['output'],
): Promise<string> {
  switch (format) {
    case 'table':
      return (await import('../../../../core/preview/render-plan-text.ts')).renderPlanText(result);
    case 'markdown':
      return (await import('../../../../core/preview/render-plan-markdown.ts')).renderPlanMarkdown(result);
    case 'json':
    case 'yaml':
      return renderDocument({ ...result, problems }, format);
  }
}
