import { mkdir, realpath, stat, readFile } from 'node:fs/promises';
import path, { resolve } from 'node:path';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { InputError, errorText } from '@berth/runtime/errors';
import { PRIVATE_DIRECTORY_MODE } from '@berth/runtime/files/private-mode';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { Command } from 'commander';
import type { ParsedCache } from '../../../../controllers/sources/parsing/parsed-cache.ts';
import { planOutcome } from '../../../../core/preview/plan-text.ts';
import type { Plan } from '../../../../core/preview/plan.ts';
import type { WhatIf } from '../../../../core/preview/what-if/apply-what-if.ts';
import type { WhatIfFlag } from '../../../../core/preview/what-if/parse-what-if.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { outputOption } from '../../../terminal/output-format.ts';
import { makeProgress } from '../../../terminal/terminal-output.ts';
import { addHubFlags, givenDecided, EMBEDDED_HELP, isHubRequested, withHub } from '../../flags/hub-flags.ts';
import { wrongOption } from '../../flags/option-values.ts';
import { packageVersion } from '../version.ts';
import type { CliCommand } from '../cli-command.ts';
import type { HubPart, HubReading } from './plan-hub.ts';
import {
  addInventoryFlags,
  type InventoryFlags,
  openInventory,
  type OpenedInventory,
} from './plan-inventory.ts';
import { needsReport, type PlanFormat, planReports, writePlan, writeReports } from './plan-output.ts';
import { addSettingsFlags, collectValues, type SettingsFlags } from './settings-sources.ts';

const WRITABLE_BY_OTHERS = 0o022;

const FLAGS: readonly (readonly [flag: WhatIfFlag, argument: string, help: string])[] = [
  ['label', 'cluster:key=value', 'assume that a cluster has this label; `key-` removes it'],
  ['claim', 'cluster:name=value', 'assume that a cluster has this claim; `name-` removes it'],
  ['score', 'cluster:resource/score=value', 'assume that a cluster has this score of an add-on'],
  ['taint', 'cluster:key[=value][:effect]', 'assume that a cluster has this taint (effect: NoSelect)'],
  ['drain', 'cluster', 'assume that a cluster is drained: nothing may stay on it'],
  [
    'lose',
    'cluster',
    'assume that a cluster is gone; `region=eu` means all clusters with this label or claim',
  ],
];

interface PlanOptions extends SettingsFlags, WhatIfFlags, InventoryFlags {
  readonly hub: boolean;
  readonly dryRuns: boolean;
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
        'also apply objects of this kind to the hub, as with berth serve --kind; * for all (default with a hub: as its controller says)',
      )
      .option(
        '--removal-budget <n|n%>',
        'budget of sources that set none, as with berth serve --removal-budget (default: as the controller on the hub says, else 25%)',
      )
      .option(
        '--deletion-window <duration>',
        'removal window of sources that set none, as with berth serve --deletion-window (default: as the controller on the hub says, else 10m)',
      )
      .option('--from-merge-base', 'compare the head with the commit where it branched off', false)
      .option(
        '--hub',
        'plan on the current clusters, scores and published decisions of a hub; it is asked, by dry runs with your rights, what it would make of the objects',
        false,
      )
      .option(
        '--no-dry-runs',
        'do not ask the hub what it would make of the objects: what Berth knows of it counts',
      )
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
  berth plan --base main --head my-branch --hub --source apps     # one of the sources that the controller on the hub follows
  berth plan --base main --head my-branch --inventory inventory.json --max-age 24h
  berth plan --base main --head my-branch --config sources.yaml --source fleet
  berth plan --base v1.4.0 --head HEAD --repo ../fleet --path 'clusters/**' -o json
  berth plan --drain cluster1 --lose region=eu
  berth plan --base main --head my-branch --taint cluster1:maintenance -o html > plan.html
`;

type ReadPart = (reading: HubReading) => Promise<HubPart>;

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
  const { inventoryPart, liveHubPart } = await import('./plan-hub.ts');
  const { InventoryApi } = await import('../../../../controllers/previews/inventory/inventory-api.ts');
  const { readAnnouncedSettings } = await import('../../../../controllers/leadership/announced-settings.ts');
  const { applicationContext } = await import('../../../generator-inputs/plan-inputs.ts');
  const progress = makeProgress(io);
  const { planSources } = await import('./plan-sources.ts');
  const { argocdNamespace } = options;
  const engine = await packageVersion();
  const planOn = async (hub: KubeApi | undefined, partOf: ReadPart): ReturnType<typeof planRevisions> => {
    if (hub !== undefined) progress.report('reading the hub');
    const announced = hub && (await readAnnouncedSettings(hub));
    const { notes = [], ...sources } = await planSources(io, { ...options, announced }, progress.report);
    const names = sources.sources.map(({ name }) => name);
    const part = await partOf({ now: options.now, sources: names, argocdNamespace });
    const { applications = applicationContext(argocdNamespace, []) } = part;
    return planRevisions({
      folder: path.resolve(io.cwd, options.repo),
      base,
      head: options.head,
      ...sources,
      fromMergeBase: options.fromMergeBase,
      now: options.now ?? part.hub?.now,
      ...part,
      applications: { ...applications, hasReasons: announced?.[0]?.decisionReasons },
      notes: [...(part.notes ?? []), ...notes],
      decides: given ?? part.decides,
      whatIf,
      engine,
      ambient: io.env,
      memory: cache && { files: cache },
      onProgress: progress.report,
    });
  };
  const onHub = (): ReturnType<typeof planRevisions> =>
    withHub(io, options, (api) =>
      planOn(api, (reading) => liveHubPart(api, { ...reading, given, dryRuns: options.dryRuns })),
    );
  const onInventory = (opened: OpenedInventory): ReturnType<typeof planRevisions> =>
    planOn(new InventoryApi(opened.inventory), (reading) =>
      inventoryPart(opened, { ...reading, nowMs, engine }),
    );
  const offline = (): ReturnType<typeof planRevisions> => planOn(undefined, async () => ({}));
  const result = await (isHubRequested(options)
    ? onHub()
    : inventory === undefined
      ? offline()
      : onInventory(inventory)
  ).finally(progress.done);
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

/** Flags for assumptions. Each may be repeated. They apply in the order of this list. */
interface WhatIfFlags extends Readonly<Record<WhatIfFlag, readonly string[]>> {
  readonly addCluster: readonly string[];
}

function addWhatIfFlags(command: Command): Command {
  command.option(
    '--add-cluster <file>',
    'assume that the ManagedClusters in this file exist',
    collectValues,
    [],
  );
  for (const [flag, argument, help] of FLAGS)
    command.option(`--${flag} <${argument}>`, `${help}; may be repeated`, collectValues, []);
  return command;
}

function hasWhatIf(flags: WhatIfFlags): boolean {
  return flags.addCluster.length > 0 || FLAGS.some(([flag]) => flags[flag].length > 0);
}

/** @throws InputError for a value that cannot be parsed */
async function readWhatIf(io: CliIo, flags: WhatIfFlags): Promise<readonly WhatIf[]> {
  if (!hasWhatIf(flags)) return [];
  const { parseWhatIf } = await import('../../../../core/preview/what-if/parse-what-if.ts');
  const added: WhatIf[] = [];
  for (const file of flags.addCluster)
    for (const cluster of await readClusters(path.resolve(io.cwd, file), file))
      added.push({ text: `--add-cluster ${file}`, assumption: { kind: 'add-cluster', cluster } });
  const others = FLAGS.flatMap(([flag]) => flags[flag].map((value) => parseWhatIf(flag, value)));
  return [...added, ...others];
}

async function readClusters(full: string, file: string): Promise<readonly ManagedCluster[]> {
  const { asNamed, parseManifests } = await import('../../../../adapters/yaml/parse-manifests.ts');
  const fail = (problem: string, cause?: unknown): InputError =>
    new InputError(problem, { code: 'plan.add-cluster', subject: `--add-cluster ${file}`, cause });
  const text = await readFile(full, 'utf8').catch((cause: unknown) => {
    throw fail(`cannot be read: ${errorText(cause)}`, cause);
  });
  const { manifests, problems } = asNamed(file, parseManifests({ file, text }));
  const error = problems.find(({ severity }) => severity === 'error');
  if (error !== undefined)
    throw new InputError(error.message, {
      code: error.code,
      subject: `--add-cluster ${file}`,
      location: error.location,
    });
  const clusters = manifests.filter(({ object }) => object.kind === 'ManagedCluster');
  if (clusters.length === 0) throw fail('the file has no ManagedCluster');
  return clusters.map(({ object }) => object as unknown as ManagedCluster);
}

function addCacheFlag(command: Command): Command {
  return command.option(
    '--cache <folder>',
    'keep parsed files in this folder, outside of any repository, so that the next plan is faster',
  );
}

/**
 * Opens the cache of parsed files; undefined without a folder. Broken records, and those of another version of Berth,
 * are ignored and written again.
 * @throws InputError for a folder inside a repository, where a commit could add files, or one that other users may write to
 */
async function openPlanCache(io: CliIo, given: string | undefined): Promise<ParsedCache | undefined> {
  if (given === undefined) return undefined;
  const dir = await privateFolder(resolve(io.cwd, given));
  const { ParsedCache } = await import('../../../../controllers/sources/parsing/parsed-cache.ts');
  return new ParsedCache({ dir, log: warningsOn(io) });
}

async function privateFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: PRIVATE_DIRECTORY_MODE }).catch((error: unknown) => {
    throw wrongOption(
      '--cache',
      `cannot be created: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  const dir = await realpath(folder);
  const { findEnclosingGitDir } = await import('@berth/git-reader/repository/git-dir');
  const repository = await findEnclosingGitDir(dir);
  if (repository !== undefined)
    throw wrongOption(
      '--cache',
      `is inside the repository ${repository.top}, where a commit could put files into it: expected a folder outside`,
    );
  const { mode, uid } = await stat(dir);
  if ((mode & WRITABLE_BY_OTHERS) !== 0 || uid !== (process.getuid?.() ?? uid))
    throw wrongOption(
      '--cache',
      `can be written by other users, expected a folder of your own with mode 0700: ${dir}`,
    );
  return dir;
}

function warningsOn({ stderr }: CliIo): Logger {
  const log: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message, fields) =>
      void stderr.write(`warning: ${message}${fields === undefined ? '' : ` ${JSON.stringify(fields)}`}\n`),
    error: (message, fields) => log.warn(message, fields),
    child: () => log,
  };
  return log;
}
