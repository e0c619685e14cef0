import { join } from 'node:path';
import { postCommitStatus } from '@berth/forge/forge-of-url';
import { JsonFileMap } from '../../adapters/store/json-file.ts';
import { sha256 } from '@berth/runtime/sha256';
import { InputError } from '@berth/runtime/errors';
import { checkAppliedKinds } from '../../core/sources/check-applied-kinds.ts';
import { SourceChecker } from '../../core/sources/check-sources.ts';
import { DEFAULT_REMOVAL_BUDGET } from '../../core/publish/judge/removal-budget.ts';
import { appliedKinds } from '../../core/sync/applied/applied-kinds.ts';
import { APPLY_SET_PART_OF_LABEL, DEFAULT_NAMESPACE } from '../../core/sync/apply-set.ts';
import { type DeletionRecord, deletionRecord, recordedCommit } from '../../core/sync/deletion-record.ts';
import { DEFAULT_DELETION_WINDOW_MS } from '../../core/sync/earlier-deletions.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, refOf } from '@berth/kube/model/object-ref';
import type { Subscribers } from '@berth/runtime/loop/subscribers';
import type { Supervisor } from '@berth/runtime/loop/supervisor';
import { type CheckMore, checkContents } from '../../controllers/sources/manifests/check-content.ts';
import { openGitSources } from '../../controllers/sources/reading/git-source.ts';
import { ParsePool } from '../../controllers/sources/parsing/parse-pool.ts';
import { ParsedCache } from '../../controllers/sources/parsing/parsed-cache.ts';
import type { ObjectChange, ObjectStore } from '@berth/kube/cache/object-store';
import { DEFAULT_MAX_REQUESTS } from '@berth/kube/transport/request-slots';
import type { CommitBarrier } from '../../controllers/sources/progress/commit-barrier.ts';
import { CommitReporter, type ReportedStatus } from '../../controllers/sources/following/commit-reporter.ts';
import type { HubInventory } from '../../controllers/inventory/hub-inventory.ts';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import { SourceEvents } from '../../controllers/events/source-events.ts';
import type { SourceStatus } from '../../controllers/sources/following/followed-source.ts';
import { RepositoryLoop } from '../../controllers/sources/following/repository-loop.ts';
import { HubSync } from '../../controllers/sources/following/hub-sync.ts';
import { SourceDeclarations } from '../../controllers/sources/progress/source-declarations.ts';
import { annotatesPlacements, type ServeOptions } from '../settings/serve-options.ts';
import {
  groupByRef,
  type ServeSource,
  type SourceEvent,
  sourceNameOf,
  takesFields,
} from '../../controllers/sources/progress/source-options.ts';

/** An open repository with its sources. */
export interface OpenRepository {
  readonly loop: RepositoryLoop;
  /** Called when an object that a source may have applied was deleted on the hub. */
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
  readonly inventory: Pick<HubInventory, 'inputs'>;
}

interface NamedSource {
  readonly from: ServeSource;
  readonly name: string;
}

/**
 * Opens all sources without network access, with one loop for each ref of a repository.
 * @throws InputError for a source that cannot work
 */
export async function openSources(
  options: ServeOptions,
  dependencies: SourceDependencies,
): Promise<readonly OpenRepository[]> {
  const { events } = dependencies;
  const names = new Set<string>();
  const pool = new ParsePool();
  const named = options.sources.map((from) => ({ ...from, from, name: sourceName(from, names) }));
  const declarations = new SourceDeclarations(
    options.clock,
    named.flatMap(({ name, sync, force = false }) => (sync === 'observe' ? [] : [{ name, force }])),
  );
  events.subscribe((event) => declarations.handle(event));
  const opened = await Promise.all(
    groupByRef(named).map((sources) =>
      openRepository(options, sources, { ...dependencies, declarations, pool }),
    ),
  );
  warnOfInProcess(options, opened);
  return opened;
}

/** What the sources share. */
interface SharedParts extends SourceDependencies {
  readonly declarations: SourceDeclarations;
  readonly pool: ParsePool;
}

async function openRepository(
  options: ServeOptions,
  sources: readonly NamedSource[],
  parts: SharedParts,
): Promise<OpenRepository> {
  const { pool, emit, events, onDeleted, whenFirstPublished, inventory, declarations } = parts;
  const [first] = sources;
  if (first === undefined) throw new Error('a repository without sources');
  const { dataDir, log } = options;
  const repository = await openGitSources(
    { ...first.from, mirrorDir: join(dataDir, 'git', first.name), ambient: options.env, pool },
    sources.map(({ from, name }) => ({
      name,
      paths: from.paths,
      cache: new ParsedCache({ dir: join(dataDir, 'parsed', name), log }),
    })),
  );
  const names = new Set(sources.map(({ name }) => name));
  const [checker, told] = [new SourceChecker(), eventsOf(options)];
  const elsewhere = () => [...declarations.declaredBesides(names), ...withoutSource(inventory)];
  const loop = new RepositoryLoop({
    ...options,
    url: first.from.url,
    ref: first.from.ref,
    repository,
    sources: sources.map(({ from, name }) => ({
      name,
      sync: from.sync === 'observe' ? undefined : hubSyncOf(options, from, { ...parts, name }),
    })),
    leadership: options.leadership,
    emit,
    pollIntervalMs: options.pollIntervalMs ?? 60_000,
    resyncIntervalMs: options.resyncIntervalMs ?? 180_000,
    emitSource: (event) => events.emit(event),
    check: (contents) =>
      checkContents(
        contents.map((content, at) => ({ content, checkMore: unappliedKindsOf(sources[at]?.from) })),
        checker,
        elsewhere,
      ),
    whenFirstPublished,
    onRound: (states) => told?.look(states),
  });
  const reports = sources.flatMap(({ from, name }) => commitStatusOf(options, from, name, emit) ?? []);
  for (const { reporter, source } of reports)
    events.subscribe((event) => {
      if (event.source === source && event.kind === 'checked') reporter.report(event.content);
    });
  return {
    loop,
    onDeletedOnHub: (object) => {
      const source = loop.restore(object);
      if (source !== undefined) onDeleted(deletedByOthers(object, source, options.clock.now()));
    },
    start: (supervisor) => {
      supervisor.start(`sources ${[...names].join(', ')}`, (signal) => loop.run(signal));
      if (told !== undefined) supervisor.start('Events about sources', (signal) => told.run(signal));
      for (const { reporter, source } of reports)
        supervisor.start(`commit status ${source}`, (signal) => reporter.run(signal));
    },
    close: async () =>
      void (await Promise.all([
        repository.close(),
        pool.close(),
        ...reports.map(({ lastReports }) => lastReports.close()),
        ...sources.map(({ from }) => from.close?.()),
      ])),
    cutOff: () => void pool.close(),
  };
}

/** What writes Events about sources; undefined for a process that writes nothing. */
function eventsOf(options: ServeOptions): SourceEvents | undefined {
  const { namespace = DEFAULT_NAMESPACE, sources, schedule } = options;
  const isReader = schedule === 'upstream' && sources.every(({ sync }) => sync === 'observe');
  return isReader ? undefined : new SourceEvents({ ...options, namespace });
}

/** Objects on the hub that no source applied. Those of sources count as far as Git declares them. */
function withoutSource({ inputs }: Pick<HubInventory, 'inputs'>): readonly KubeObject[] {
  return inputs
    .flatMap(({ store }) => store.list())
    .filter(({ metadata }) => metadata.labels?.[APPLY_SET_PART_OF_LABEL] === undefined);
}

/**
 * Lets the sources apply an input of decisions again that was deleted on the hub. Not after a restore of the hub, until
 * the hub was compared with Git: the comparison applies what is missing.
 */
export function restoreDeleted(
  inputs: readonly { readonly store: Pick<ObjectStore, 'onChange'> }[],
  barrier: CommitBarrier,
  sources: readonly OpenRepository[],
): void {
  const restore = ({ before, after }: ObjectChange): void => {
    if (before !== undefined && after === undefined && barrier.isHubCompared)
      for (const { onDeletedOnHub } of sources) onDeletedOnHub(before);
  };
  for (const { store } of inputs) store.onChange(restore);
}

function deletedByOthers(
  object: KubeObject,
  { name: source, content }: Pick<SourceStatus, 'name' | 'content'>,
  atMs: number,
): DeletionRecord {
  const commit = recordedCommit(content?.commit);
  return deletionRecord(object, { atMs, source, commit, released: null, byOthers: true });
}

/** If another tool applies the source, that tool decides which kinds it applies. */
function unappliedKindsOf({ sync, kinds = [] }: Partial<ServeSource> = {}): CheckMore {
  return (objects) => (sync === 'observe' ? [] : checkAppliedKinds(objects, kinds));
}

function warnOfInProcess({ log }: ServeOptions, opened: readonly OpenRepository[]): void {
  const sources = opened.flatMap(({ loop }) =>
    loop.status().flatMap(({ name, inProcess }) => (inProcess ? [name] : [])),
  );
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
  return { source: name, reporter, lastReports };
}

function hubSyncOf(
  options: ServeOptions,
  from: ServeSource,
  parts: SharedParts & { readonly name: string },
): HubSync {
  const embedded = options.embedded === true;
  const { name, declarations, barrier, events, emit, onDeleted, readDeleted } = parts;
  return new HubSync({
    api: options.api,
    digest: sha256,
    declarations,
    written: {
      applied: (object) => {
        barrier.applied(object);
        void events.emit({ kind: 'applied', source: name, object });
      },
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
