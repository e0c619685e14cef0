import { join } from 'node:path';
import { postCommitStatus } from '@berth/forge/commit-status';
import { JsonFileMap } from '../../adapters/store/json-file.ts';
import { sha256 } from '@berth/runtime/sha256';
import { InputError } from '@berth/runtime/errors';
import { checkAppliedKinds } from '../../core/sources/check-applied-kinds.ts';
import { SourceChecker } from '../../core/sources/check-sources.ts';
import { DEFAULT_REMOVAL_BUDGET } from '../../core/publish/judge/removal-budget.ts';
import type { SourceFinding } from '../../core/sources/source-finding.ts';
import { appliedKinds } from '../../core/sync/applied/applied-kinds.ts';
import { DEFAULT_NAMESPACE } from '../../core/sync/apply-set.ts';
import { type DeletionRecord, deletionRecord, recordedCommit } from '../../core/sync/deletion-record.ts';
import { DEFAULT_DELETION_WINDOW_MS } from '../../core/sync/earlier-deletions.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, refOf } from '@berth/kube/model/object-ref';
import type { Subscribers } from '@berth/runtime/loop/subscribers';
import type { Supervisor } from '@berth/runtime/loop/supervisor';
import { checkContent } from '../../controllers/sources/manifests/check-content.ts';
import type { SourceContent } from '../../controllers/sources/manifests/source-content.ts';
import { openGitSource } from '../../controllers/sources/reading/git-source.ts';
import { ParsePool } from '../../controllers/sources/parsing/parse-pool.ts';
import { ParsedCache } from '../../controllers/sources/parsing/parsed-cache.ts';
import type { ObjectChange, ObjectStore } from '@berth/kube/cache/object-store';
import { DEFAULT_MAX_REQUESTS } from '@berth/kube/transport/request-slots';
import type { CommitBarrier } from '../../controllers/sources/progress/commit-barrier.ts';
import { CommitReporter } from '../../controllers/sources/following/commit-reporter.ts';
import type { ReportedStatus } from '../../controllers/sources/following/commit-reporter.ts';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import { GitLoop } from '../../controllers/sources/following/git-loop.ts';
import { HubSync } from '../../controllers/sources/following/hub-sync.ts';
import { SourceClaims } from '../../controllers/sources/progress/source-claims.ts';
import type { SourceEvent } from '../../controllers/sources/progress/source-events.ts';
import { annotatesPlacements, type ServeOptions } from '../settings/serve-options.ts';
import {
  followedRef,
  type ServeSource,
  sourceNameOf,
  takesFields,
} from '../../controllers/sources/progress/source-options.ts';

export interface OpenSource {
  readonly loop: GitLoop;
  /** Called when an object that the source may have applied was deleted on the hub. */
  readonly onDeletedOnHub: (object: KubeObject) => void;
  readonly start: (supervisor: Supervisor) => void;
  readonly close: () => Promise<void>;
  /** Ends the parser threads. */
  readonly cutOff: () => void;
}

export interface SourceDependencies {
  readonly emit: (event: ControllerEventBody) => void;
  /** Publishes the events of the sources. */
  readonly events: Subscribers<SourceEvent>;
  readonly barrier: CommitBarrier;
  readonly whenFirstPublished: (signal: AbortSignal) => Promise<void>;
  readonly onDeleted: (record: DeletionRecord) => void;
  /** Returns the uids of the objects that a source deleted, as `onDeleted` recorded them. */
  readonly readDeleted: (source: string) => Promise<readonly string[]>;
}

/**
 * Opens all sources without network access.
 * @throws InputError for a source that cannot work
 */
export async function openSources(
  options: ServeOptions,
  dependencies: SourceDependencies,
): Promise<readonly OpenSource[]> {
  const { events } = dependencies;
  const names = new Set<string>();
  const pool = new ParsePool();
  const named = options.sources.map((from) => ({ from, name: sourceName(from, names) }));
  const writers = named.filter(({ from }) => from.sync !== 'observe');
  const claims = new SourceClaims(
    options.clock,
    writers.map(({ from, name }) => ({ name, force: from.force === true, ref: followedRef(from) })),
  );
  const fetch = (source: string): void => void events.emit({ kind: 'fetch-wanted', source });
  claims.fetches.onWanted(fetch);
  claims.deletions.onFree(fetch);
  claims.transfers.onFree(fetch);
  events.subscribe((event) => claims.handle(event));
  const opened = await Promise.all(
    named.map(({ from, name }) => openSource(options, from, { ...dependencies, name, claims, pool })),
  );
  warnOfInProcess(options, opened);
  return opened;
}

/** What a source shares with the others, and its name. */
interface SourceParts extends SourceDependencies {
  readonly name: string;
  readonly claims: SourceClaims;
  readonly pool: ParsePool;
}

async function openSource(
  options: ServeOptions,
  from: ServeSource,
  parts: SourceParts,
): Promise<OpenSource & { readonly name: string; readonly inProcess: boolean }> {
  const { name, pool, emit, events, onDeleted, whenFirstPublished } = parts;
  const source = await openGitSource({
    ...from,
    mirrorDir: join(options.dataDir, 'git', name),
    ambient: options.env,
    cache: new ParsedCache({ dir: join(options.dataDir, 'parsed', name), log: options.log }),
    pool,
  });
  const commitStatus = commitStatusOf(options, from, name, emit);
  const checker = new SourceChecker();
  const loop = new GitLoop({
    ...options,
    name,
    url: from.url,
    ref: from.ref,
    source,
    sync: from.sync === 'observe' ? undefined : hubSyncOf(options, from, parts),
    leadership: options.leadership,
    emit,
    pollIntervalMs: options.pollIntervalMs ?? 60_000,
    resyncIntervalMs: options.resyncIntervalMs ?? 180_000,
    emitSource: (event) => events.emit(event),
    check: (content) => checkContent(content, checker, (objects) => unappliedKinds(from, objects)),
    whenFirstPublished,
  });
  events.subscribe((event) => {
    if (event.source !== name) return;
    if (event.kind === 'fetch-wanted') loop.fetch();
    else if (event.kind === 'checked') commitStatus?.reporter.report(event.content);
  });
  return {
    name,
    inProcess: source.inProcess,
    loop,
    onDeletedOnHub: (object) => {
      if (loop.restore(object)) onDeleted(deletedByOthers(object, loop, options.clock.now()));
    },
    start: (supervisor) => {
      supervisor.start(`source ${name}`, (signal) => loop.run(signal));
      if (commitStatus !== undefined)
        supervisor.start(`commit status ${name}`, (signal) => commitStatus.reporter.run(signal));
    },
    close: async () =>
      void (await Promise.all([
        source.close(),
        pool.close(),
        commitStatus?.lastReports.close(),
        from.close?.(),
      ])),
    cutOff: () => void pool.close(),
  };
}

/**
 * Lets the sources apply an input of decisions again that was deleted on the hub. Not after a restore of the hub, until
 * the hub was compared with Git: the comparison applies what is missing.
 */
export function restoreDeleted(
  inputs: readonly { readonly store: Pick<ObjectStore, 'onChange'> }[],
  barrier: CommitBarrier,
  sources: readonly OpenSource[],
): void {
  const restore = ({ before, after }: ObjectChange): void => {
    if (before !== undefined && after === undefined && barrier.isHubCompared)
      for (const { onDeletedOnHub } of sources) onDeletedOnHub(before);
  };
  for (const { store } of inputs) store.onChange(restore);
}

function deletedByOthers(object: KubeObject, loop: GitLoop, atMs: number): DeletionRecord {
  const { name: source, content } = loop.status();
  const commit = recordedCommit(content?.commit);
  return deletionRecord(object, { atMs, source, commit, released: null, byOthers: true });
}

/** If another tool applies the source, that tool decides which kinds it applies. */
function unappliedKinds(
  { sync, kinds = [] }: ServeSource,
  objects: SourceContent['objects'],
): readonly SourceFinding[] {
  return sync === 'observe' ? [] : checkAppliedKinds(objects, kinds);
}

function warnOfInProcess(
  { log }: ServeOptions,
  opened: readonly { readonly name: string; readonly inProcess: boolean }[],
): void {
  const sources = opened.filter(({ inProcess }) => inProcess).map(({ name }) => name);
  if (sources.length > 0) log.warn(NO_GIT_PROGRAM, { sources });
}

const NO_GIT_PROGRAM =
  'there is no git program, so Berth reads sources in process, which is several times slower and keeps packs in memory; do this only with repositories whose writers you trust, or install git and start again';

/** Reports commits to the forge; undefined if the source is not configured for it. */
function commitStatusOf(
  { dataDir, clock, random, log, leadership }: ServeOptions,
  { commitStatus }: ServeSource,
  name: string,
  emit: (event: ControllerEventBody) => void,
) {
  if (commitStatus === undefined) return undefined;
  const { target, targetUrl } = commitStatus;
  const lastReports = new JsonFileMap<ReportedStatus>(
    join(dataDir, 'commit-status', `${name}.json`),
    clock,
    log,
  );
  const reporter = new CommitReporter({
    source: name,
    targetUrl,
    post: (status, signal) => postCommitStatus(target, status, signal),
    lastReports,
    leadership,
    clock,
    random,
    log,
    onError: (error) => emit({ kind: 'error', where: `commit status of source ${name}`, error }),
  });
  return { reporter, lastReports };
}

function hubSyncOf(
  options: ServeOptions,
  from: ServeSource,
  parts: Pick<SourceParts, 'name' | 'claims' | 'barrier' | 'events' | 'emit' | 'onDeleted' | 'readDeleted'>,
): HubSync {
  const embedded = options.embedded === true;
  const { name, claims, barrier, events, emit, onDeleted, readDeleted } = parts;
  return new HubSync({
    api: options.api,
    digest: sha256,
    claims,
    written: {
      applied: (object) => barrier.applied(object),
      deleted: (object) => {
        barrier.deleted(object);
        void events.emit({ kind: 'deleted', source: name, object });
      },
    },
    onDeleted,
    onWithdrawn: ({ object, because }) =>
      emit({ kind: 'withdrawn', source: name, object: formatRef(refOf(object)), because }),
    readDeleted: () => readDeleted(name),
    source: name,
    namespace: options.namespace ?? DEFAULT_NAMESPACE,
    budget: from.budget ?? options.budget ?? DEFAULT_REMOVAL_BUDGET,
    allowEmpty: from.allowEmpty,
    isApplied: appliedKinds(from.kinds),
    deletionWindowMs: from.deletionWindowMs ?? options.deletionWindowMs ?? DEFAULT_DELETION_WINDOW_MS,
    clock: options.clock,
    force: from.force === true,
    takeFields: takesFields(from),
    annotatePlacements: annotatesPlacements(options),
    recordedStatus: embedded,
    createNamespaces: embedded,
    concurrency: DEFAULT_MAX_REQUESTS,
  });
}

function sourceName(source: ServeSource, taken: Set<string>): string {
  const name = sourceNameOf(source);
  if (!/^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$/.test(name) || taken.has(name))
    throw new InputError('a source needs a unique name: a DNS label of at most 50 characters', {
      code: 'serve.source',
      subject: `source ${JSON.stringify(name)}`,
      hint: taken.has(name) ? 'two sources have this name; rename one of them' : undefined,
    });
  taken.add(name);
  return name;
}
