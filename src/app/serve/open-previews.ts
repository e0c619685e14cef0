import { join } from 'node:path';
import { concernsRepository, sameRepository } from '@berth/forge/request/repository-url';
import type { ObjectCache } from '@berth/kube/cache/object-cache';
import { JsonFileMap } from '../../adapters/store/json-file.ts';
import { ReportFiles } from '../../adapters/store/report-files.ts';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import { FollowedMembers } from '../../controllers/inventory/followed-members.ts';
import type { HubInventory } from '../../controllers/inventory/hub-inventory.ts';
import { DEFAULT_PLAN_BOUNDS } from '../../controllers/previews/bounded/plan-bounds.ts';
import { PlanningProcesses } from '../../controllers/previews/bounded/planning-processes.ts';
import { DryRunTrials } from '../../controllers/previews/held/hub-trials.ts';
import { planRevisions, type PlanRevisionsInput } from '../../controllers/previews/plan-revisions.ts';
import type { PlannedSource } from '../../controllers/previews/source-readings.ts';
import { HubStateWatch } from '../../controllers/previews/pull-requests/hub-state-watch.ts';
import { KnownRules, type KnownRule } from '../../controllers/previews/pull-requests/preview-statuses.ts';
import type {
  MergeGroup,
  PullRequestComment,
} from '../../controllers/previews/pull-requests/reported-events.ts';
import { ReportedWork } from '../../controllers/previews/pull-requests/reported-work.ts';
import { applicationContext, type ArgoPart, readArgoPart } from '../generator-inputs/plan-inputs.ts';
import {
  planPullRequest,
  type PullRequestPlannerOptions,
} from '../../controllers/previews/pull-requests/plan-pull-request.ts';
import type { FindMergedPlan } from '../../controllers/publication/plan-approvals.ts';
import { planOfTree } from '../../controllers/previews/pull-requests/plan-of-tree.ts';
import { PreviewQueue } from '../../controllers/previews/pull-requests/preview-queue.ts';
import { NO_MEMORY, type PreviewMemory } from '../../controllers/previews/pull-requests/preview-memory.ts';
import { PreviewRepository } from '../../controllers/previews/pull-requests/preview-repository.ts';
import { PullRequestPreviews } from '../../controllers/previews/pull-requests/pull-request-previews.ts';
import type { PreviewReports } from '../../controllers/previews/pull-requests/pull-request-options.ts';
import type { SourceLedger } from '../../controllers/sources/progress/source-ledger.ts';
import {
  type ServeSource,
  type SourceEvent,
  sourceNameOf,
  takesFields,
} from '../../controllers/sources/progress/source-options.ts';
import type { KindInfo } from '@berth/kube/model/kinds';
import { commentCommand } from '../../core/preview/comment/comment-command.ts';
import { reportPage, type ReportedPlan } from '../../core/preview/report/report-page.ts';
import { DEFAULT_NAMESPACE } from '../../core/sync/apply-set.ts';
import { builtProgram } from '../../adapters/program/package-root.ts';
import type { Subscribers } from '@berth/runtime/loop/subscribers';
import type { Supervisor } from '@berth/runtime/loop/supervisor';
import { annotatesPlacements, ownPlacements, type ServeOptions } from '../settings/serve-options.ts';
import type { ControllerState } from './controller-state.ts';
import type { OpenTraces } from './open-traces.ts';
import type { PreviewParts } from './http/controller-http-options.ts';
import { PreviewLinks } from './http/preview-links.ts';

/**
 * How many pull requests are planned at the same time. The limit is low, because the controller's own decisions have
 * priority.
 */
const WORKERS = 2;

/** In characters. */
const MAX_REPORT_LENGTH = 4 * 1024 * 1024;

/** The previews of all sources. */
export interface OpenPreviews extends PreviewParts {
  /** Finds the plan of a merge, for sources that hold merges to their plans. */
  readonly planOfTree: FindMergedPlan;
  /** @param ready resolves when the controller's own decisions are published */
  start(supervisor: Supervisor, ready: Promise<void>): void;
  close(): Promise<void>;
}

export interface PreviewDependencies {
  readonly options: ServeOptions;
  readonly inventory: HubInventory;
  readonly cache: ObjectCache;
  /** See `FollowedMembersOptions`. */
  readonly checkHub: () => Promise<number>;
  readonly ledger: SourceLedger;
  readonly followed: Subscribers<SourceEvent>;
  readonly whenFirstPublished: (signal: AbortSignal) => Promise<void>;
  readonly overdue: PullRequestPlannerOptions['overdue'];
  readonly emit: (event: ControllerEventBody) => void;
  readonly state: Pick<ControllerState, 'timeline'>;
  readonly traces: Pick<OpenTraces, 'sink'> | undefined;
}

/** Opens the previews of the sources that enable them, without network access. */
export function openPreviews(parts: PreviewDependencies): OpenPreviews {
  const { options, followed } = parts;
  const { clock, dataDir } = options;
  const dir = join(dataDir, 'previews');
  const reports = new ReportFiles(join(dir, 'reports'));
  const links = new PreviewLinks(join(dir, 'link-key'));
  const queue = new PreviewQueue(clock, WORKERS);
  const planner = planningProcesses(clock);
  const members = new FollowedMembers({ ...parts, clock });
  const hubState = new HubStateWatch({
    clock,
    snapshot: () => parts.inventory.snapshot(),
    onChange: () => opened.forEach(({ previews }) => previews.hubChanged(hubState.now())),
  });
  for (const { store } of parts.inventory.inputs) store.onChange(() => hubState.objectChanged());
  const shared = {
    ...parts,
    members,
    queue,
    hubState: () => hubState.now(),
    reports: reportsOf(options, reports, links),
    dir,
    planWithin: planner === undefined ? planRevisions : planner.plan.bind(planner),
  };
  const opened = options.sources.flatMap((source) => openOne(source, shared) ?? []);
  const bySource = new Map(opened.map(({ previews }) => [previews.source, previews]));
  const { commands, groups } = reportedWork(parts);
  followed.subscribe((event) => {
    const previews = bySource.get(event.source);
    if (event.kind === 'read' && event.content.commit !== undefined)
      previews?.sourceRead(event.content.commit.id);
    else if (previews !== undefined && (event.kind === 'complete' || event.kind === 'followed'))
      for (const group of previews.sourceFollowed()) groups.add(previews, group);
  });
  return {
    ...{ reports, links, open: () => opened.flatMap(openNumbers) },
    findCommit: (commit) => findCommit(opened, commit),
    planOfTree: mergedPlansOf(opened),
    take: (event) => {
      if (event.kind === 'push' || event.kind === 'other') return false;
      const concerned = opened.filter(({ url }) => concernsRepository(event, url));
      for (const { previews } of concerned) {
        if (event.kind === 'merge-group') groups.add(previews, event);
        else if (event.kind !== 'comment') previews.pullRequestChanged(event.number, event.head.commit);
        // Other comments are ignored.
        else if (commentCommand(event.text) !== undefined) commands.add(previews, event);
      }
      return concerned.length > 0;
    },
    start: (supervisor, ready) => {
      supervisor.start('previews', async (signal) => {
        await ready;
        await queue.run(async ({ source, number }, stop) => bySource.get(source)?.work(number, stop), signal);
      });
      supervisor.start('comments on pull requests', (signal) => commands.run(signal));
      supervisor.start('merge queues', async (signal) => {
        await ready;
        await groups.run(signal);
      });
      for (const { previews } of opened)
        supervisor.start(`pull requests of ${previews.source}`, (signal) => previews.run(signal));
    },
    close: async () => {
      hubState.close();
      await planner?.close();
      await Promise.all(
        opened.flatMap(({ previews, records, rules }) => [previews.close(), records.close(), rules.close()]),
      );
    },
  };
}

function openNumbers({
  previews,
  records,
}: Pick<NonNullable<ReturnType<typeof openOne>>, 'previews' | 'records'>) {
  const open = records.keys().filter((number) => {
    const { base, merge, endedAtMs } = records.get(number) ?? NO_MEMORY;
    return base !== '' && merge === undefined && endedAtMs === undefined;
  });
  return open.map((number) => ({ source: previews.source, number }));
}

/** The pull request whose planned head, or whose merge, is this commit. @param commit an id, or how it begins */
function findCommit(
  opened: readonly Pick<NonNullable<ReturnType<typeof openOne>>, 'previews' | 'records'>[],
  commit: string,
): { readonly source: string; readonly number: string } | undefined {
  for (const { previews, records } of opened)
    for (const number of records.keys().toReversed()) {
      const { head, merge } = records.get(number) ?? NO_MEMORY;
      if (head.startsWith(commit) || merge?.commit.startsWith(commit) === true)
        return { source: previews.source, number };
    }
  return undefined;
}

/** The queues of comments and of groups of merge queues. */
function reportedWork({ options, emit }: Pick<PreviewDependencies, 'options' | 'emit'>) {
  const commands = new ReportedWork<PullRequestComment>({
    ...options,
    what: 'comment',
    causeOf: ({ author }) => author,
    handle: (previews, comment, signal) => previews.commented(comment, signal),
    onError: (source, error) =>
      emit({ kind: 'error', where: `comment on a pull request of source ${source}`, error }),
  });
  const groups = new ReportedWork<MergeGroup>({
    ...options,
    what: 'merge group',
    causeOf: ({ head }) => head,
    handle: (previews, group, signal) => previews.mergeGroup(group, signal),
    onError: (source, error) => emit({ kind: 'error', where: `merge queue of source ${source}`, error }),
  });
  return { commands, groups };
}

function mergedPlansOf(
  opened: readonly Pick<NonNullable<ReturnType<typeof openOne>>, 'previews' | 'records' | 'holdToPlan'>[],
): FindMergedPlan {
  return (source, tree) => {
    const found = opened.find(({ previews }) => previews.source === source);
    return found?.holdToPlan === true ? planOfTree(found.records, tree) : undefined;
  };
}

function openOne(
  source: ServeSource,
  shared: PreviewDependencies & {
    readonly members: FollowedMembers;
    readonly queue: PreviewQueue;
    readonly reports: PreviewReports;
    readonly hubState: () => string;
    readonly dir: string;
    readonly planWithin: PullRequestPlannerOptions['planWithin'];
  },
) {
  const { preview, ref } = source;
  if (preview === undefined) return undefined;
  const {
    options,
    inventory,
    members,
    ledger,
    emit,
    state,
    dir,
    queue,
    reports,
    hubState,
    whenFirstPublished: whenPublished,
    overdue,
    planWithin,
  } = shared;
  const { api, clock, log, env, dataDir } = options;
  const name = sourceNameOf(source);
  const repository = new PreviewRepository({ source, name, dataDir, env });
  const records = new JsonFileMap<PreviewMemory>(join(dir, `${name}.json`), clock, log);
  // The name of a source contains no dot, so this name is unique.
  const rules = new JsonFileMap<KnownRule>(join(dir, `${name}.rules.json`), clock, log);
  const planner = {
    api,
    repository,
    engine: options.engineVersion,
    env,
    sources: sourcesBeside(source, options),
    snapshot: () => inventory.snapshot(),
    headsOf: (kind: KindInfo) => members.headsOf(kind),
    trials: trialsOf(preview, options),
    argoPart: () => argoPart(options),
    staleness: () => inventory.age(),
    decides: ownPlacements(options),
    addOns: addOnsOf(options),
    overdue,
    planWithin,
    budgetOf: (placement: Parameters<SourceLedger['budgetOf']>[0]) => ledger.budgetOf(placement),
  };
  const previews = new PullRequestPreviews({
    source: name,
    branch: ref?.type === 'branch' ? ref.name : undefined,
    ...preview,
    ...{ repository, memories: records, reports, queue, clock, log, hubState, whenPublished },
    random: options.random,
    knownRules: preview.ruleStatuses ? new KnownRules(rules, () => clock.now()) : undefined,
    leadership: options.leadership,
    traces: shared.traces?.sink,
    hub: api,
    record: (step) => state.timeline.append(step),
    namespace: options.namespace ?? DEFAULT_NAMESPACE,
    snapshot: planner.snapshot,
    plan: (pull, base, signal) => planPullRequest(planner, pull, base, signal),
    onError: (error) => emit({ kind: 'error', where: `previews of source ${name}`, error }),
  });
  return { previews, records, rules, url: source.url, holdToPlan: preview.rules.holdToPlan };
}

function addOnsOf({ addons, budget }: ServeOptions): PlanRevisionsInput['addOns'] {
  return addons?.duties.includes('install') === true ? { isInstalling: true, budget } : undefined;
}

/** Undefined: the hub is not asked. */
function trialsOf(
  { dryRuns }: NonNullable<ServeSource['preview']>,
  options: ServeOptions,
): DryRunTrials | undefined {
  if (dryRuns ?? options.dryRuns ?? true)
    return new DryRunTrials({ api: options.api, annotatePlacements: annotatesPlacements(options) });
  return undefined;
}

/** Undefined if Berth runs from its sources. Plans are then made in this process. */
function planningProcesses(clock: ServeOptions['clock']): PlanningProcesses | undefined {
  const program = builtProgram('src/app/serve/plan-process');
  return program === undefined
    ? undefined
    : new PlanningProcesses({ program, bounds: DEFAULT_PLAN_BOUNDS }, clock);
}

/** Reads from Argo CD on the hub only if Berth is configured for it, because it may have no right to read it otherwise. */
async function argoPart({ api, argocd, decisionReasons: hasReasons }: ServeOptions): Promise<ArgoPart> {
  if (argocd === undefined)
    return { applications: { ...applicationContext(DEFAULT_ARGOCD_NAMESPACE, []), hasReasons } };
  const part = await readArgoPart(api, argocd.namespace);
  return { ...part, applications: part.applications && { ...part.applications, hasReasons } };
}

const DEFAULT_ARGOCD_NAMESPACE = 'argocd';

/** All sources that follow the same branch of the same repository, because a pull request changes them together. */
function sourcesBeside({ url, ref }: ServeSource, options: ServeOptions): readonly PlannedSource[] {
  const isBeside = (other: ServeSource): boolean =>
    (other.url === url || sameRepository(other.url, url)) &&
    JSON.stringify(other.ref) === JSON.stringify(ref);
  return options.sources.flatMap((other, rank) =>
    isBeside(other)
      ? [
          {
            name: sourceNameOf(other),
            rank,
            paths: other.paths ?? [],
            budget: other.budget ?? options.budget,
            deletionWindowMs: other.deletionWindowMs ?? options.deletionWindowMs,
            allowEmpty: other.allowEmpty ?? false,
            kinds: other.sync === 'observe' ? ['*'] : (other.kinds ?? []),
            applies: other.sync !== 'observe',
            takesFields: takesFields(other),
          },
        ]
      : [],
  );
}

function reportsOf({ http, clock }: ServeOptions, files: ReportFiles, links: PreviewLinks): PreviewReports {
  const publicUrl = http?.publicUrl?.replace(/\/+$/, '');
  const pagesOf = (plan: ReportedPlan): Record<'html' | 'json', string> => ({
    html: reportPage({ ...plan, maxLength: MAX_REPORT_LENGTH }),
    json: JSON.stringify(plan),
  });
  return {
    write: ({ source, number }, { map, plan }) => files.write(source, number, { ...pagesOf(plan), svg: map }),
    merged: async ({ source, number }, merged) => {
      const stored = await files.read(source, `${number}.json`);
      if (stored === undefined) return;
      const plan = JSON.parse(stored.toString('utf8')) as ReportedPlan;
      await files.write(source, number, pagesOf({ ...plan, ...merged }));
    },
    linksTo: ({ source, number }) => {
      if (publicUrl === undefined) return undefined;
      const link = (ending: string): string =>
        `${publicUrl}${links.sign(`/previews/${source}/${number}.${ending}`, clock.now())}`;
      return { report: link('html'), map: link('svg') };
    },
  };
}
