import path from 'node:path';
import { InputError } from '@berth/runtime/errors';
import { planOutcome } from '../../../../core/preview/plan-text.ts';
import type { Plan } from '../../../../core/preview/plan.ts';
import type { CliCommand } from '../cli-command.ts';
import { packageVersion } from '../package-version.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, givenDecided, EMBEDDED_HELP, isHubRequested, withHub } from '../../flags/hub-flags.ts';
import { makeProgress } from '../../../terminal/progress.ts';
import { outputOption } from '../../../terminal/output-format.ts';
import { addSettingsFlags, collectValues, type SettingsFlags } from './settings-sources.ts';
import { addCacheFlag, openPlanCache } from './plan-cache.ts';
import { addInventoryFlags, type InventoryFlags, openInventory } from './plan-inventory.ts';
import { addWhatIfFlags, hasWhatIf, readWhatIf, type WhatIfFlags } from './what-if-flags.ts';
import type { HubPart } from './plan-hub.ts';
import { needsReport, type PlanFormat, planReports, writePlan, writeReports } from './plan-output.ts';

interface PlanOptions extends SettingsFlags, WhatIfFlags, InventoryFlags {
  readonly hub: boolean;
  readonly embedded: boolean;
  readonly kind?: readonly string[];
  readonly removalBudget?: string;
  readonly deletionWindow?: string;
  readonly base?: string;
  readonly head: string;
  readonly argocdNamespace: string;
  readonly repo: string;
  readonly fromMergeBase: boolean;
  readonly now?: string;
  readonly output: PlanFormat;
  readonly report: readonly string[];
  readonly cache?: string;
}

export const planCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('plan')
      .description(
        'show what merging one commit into another would move, and why; works with or without a hub',
      )
      .option(
        '--base <ref>',
        'target of the merge: a branch, tag or commit (default with assumptions: the same as --head)',
      )
      .option('--head <ref>', 'branch, tag or commit to merge', 'HEAD')
      .option('--repo <folder>', 'clone or bare repository to read', '.')
      .option(
        '--path <glob>',
        'read only manifests that match; `!` in front excludes; may be repeated',
        collectValues,
        [],
      )
      .option(
        '--kind <group/kind...>',
        'also apply objects of this kind to the hub, as with berth serve --kind; * for all',
      )
      .option(
        '--removal-budget <n|n%>',
        'budget of sources that set none, as with berth serve --removal-budget (default: 25%)',
      )
      .option(
        '--deletion-window <duration>',
        'deletion window of sources that set none, as with berth serve --deletion-window (default: 10m)',
      )
      .option('--from-merge-base', 'compare the head with the commit where it branched off', false)
      .option('--hub', 'plan on the current clusters, scores and published decisions of a hub', false)
      .option('--embedded', EMBEDDED_HELP, false)
      .option(
        '--now <time>',
        'RFC 3339 time to decide at (default: that of the later commit; with a hub: now; with an inventory: when it was written)',
      )
      .option('--argocd-namespace <name>', 'namespace of Argo CD', 'argocd')
      .option(
        '--report <format=file>',
        'also write the plan to a file, in a format of -o; may be repeated',
        collectValues,
        [],
      )
      .addOption(outputOption('text', 'markdown', 'html', 'junit', 'sarif'));
    addHubFlags(addInventoryFlags(addSettingsFlags(addCacheFlag(addWhatIfFlags(command)))))
      .addHelpText('after', HELP)
      .action(run((io, options: PlanOptions) => plan(io, options)));
  },
};

const HELP = `
Exit codes: 0 no changes, 1 errors in the manifests of the head, or the plan failed, 2 changes,
3 changes that a rule of .berth/rules.yaml denies or that would be held.

CLUSTER in an assumption is the name of a cluster, or KEY=VALUE for all clusters with this label or claim.

Examples:
  berth plan --base main --head my-branch
  berth plan --base origin/main -o markdown > comment.md
  berth plan --base origin/main --report junit=plan.xml --report sarif=plan.sarif
  berth plan --base main --head my-branch --hub --kubeconfig hub.kubeconfig
  berth plan --base main --head my-branch --inventory inventory.json --max-age 24h
  berth plan --base main --head my-branch --config sources.yaml --source fleet
  berth plan --base v1.4.0 --head HEAD --repo ../fleet --path 'clusters/**' -o json
  berth plan --drain cluster1 --lose region=eu
  berth plan --base main --head my-branch --taint cluster1:maintenance -o html > plan.html
`;

const OUTCOME_CODES = { none: 0, changes: 2, stopped: 3 } as const;

async function plan(io: CliIo, options: PlanOptions): Promise<ExitCode> {
  const nowMs = Date.now();
  const inventory = await openInventory(io, options, { asksHub: isHubRequested(options), nowMs });
  const knowsHub = inventory !== undefined || isHubRequested(options);
  const given = givenDecided(options, knowsHub);
  const base = baseOf(options);
  const reports = planReports(options.report);
  const whatIf = await readWhatIf(io, options);
  const cache = await openPlanCache(io, options.cache);
  const { planRevisions } = await import('../../../../controllers/previews/plan-revisions.ts');
  const { inventoryPart, readHubPart } = await import('./plan-hub.ts');
  const { applicationContext } = await import('../../../generator-inputs/argo-part.ts');
  const progress = makeProgress(io);
  const { planSources } = await import('./plan-sources.ts');
  const sources = await planSources(io, { ...options, knowsHub }, progress.report).finally(progress.done);
  const names = sources.sources.map(({ name }) => name);
  const { argocdNamespace } = options;
  const engine = await packageVersion();
  const planOn = (hub: HubPart): ReturnType<typeof planRevisions> =>
    planRevisions({
      folder: path.resolve(io.cwd, options.repo),
      base,
      head: options.head,
      ...sources,
      fromMergeBase: options.fromMergeBase,
      now: options.now ?? hub.hub?.now,
      applications: applicationContext(argocdNamespace, []),
      ...hub,
      decides: given ?? hub.decides,
      whatIf,
      engine,
      ambient: io.env,
      memory: cache && { files: cache },
      onProgress: progress.report,
    });
  const reading = { now: options.now, sources: names, argocdNamespace };
  const onHub = (): ReturnType<typeof planRevisions> =>
    withHub(io, options, async (api) => {
      progress.report('reading the hub');
      return planOn(await readHubPart(api, reading));
    });
  const onInventory = async (): ReturnType<typeof planRevisions> =>
    planOn(inventory === undefined ? {} : await inventoryPart(inventory, { ...reading, nowMs, engine }));
  const result = await (isHubRequested(options) ? onHub() : onInventory()).finally(progress.done);
  await cache?.close();
  await writePlan(io, result.plan, result.problems, options.output);
  await writeReports(io, result.plan, result.problems, reports);
  if (result.problems.length > 0 && needsReport(options.output)) {
    const { countProblems, renderProblems } = await import('../../../terminal/problem-report.ts');
    io.stderr.write(
      `\nIn ${options.head}: ${countProblems(result.problems)}\n${renderProblems(result.problems, false)}`,
    );
  }
  return exitCode(result.plan, result.problems);
}

/** @throws InputError when no base is given */
function baseOf(options: PlanOptions): string {
  if (options.base !== undefined) return options.base;
  if (hasWhatIf(options)) return options.head;
  throw new InputError('is missing, expected a branch, tag or commit, or an assumption such as --drain', {
    code: 'cli.option',
    subject: '--base',
  });
}

function exitCode(result: Plan, problems: readonly { readonly severity: string }[]): ExitCode {
  if (problems.some(({ severity }) => severity === 'error')) return 1;
  return OUTCOME_CODES[planOutcome(result)];
}
