import type {
  CommitInfo,
  GitRepository,
  TreeChange,
  TreeEntry,
} from '../../../adapters/git/repository/git-repository.ts';
import { NOT_AN_OBJECT } from '../../../adapters/yaml/manifest-check.ts';
import type { ParsedFile, ParsedManifest } from '../../../adapters/yaml/parse-manifests.ts';
import type { Problem } from '../../../core/model/problem.ts';
import { assembleObjects, fileReading, type FileReading, objectKey } from '../manifests/assemble-objects.ts';
import { type FileVersionReading, isMissing, readFiles } from './file-readings.ts';
import {
  problemsByFile,
  splitSafeEntries,
  type TreeFile,
} from '../../../adapters/git/repository/tree-safety.ts';
import {
  type CommitListing,
  type ManifestSelection,
  listCommit,
  listNextCommit,
  atCommit,
} from '../manifests/commit-listing.ts';
import { fewChangedFiles, replaceObjects } from '../manifests/few-changes.ts';
import {
  DEFAULT_MANIFEST_LIMITS,
  type SourceContent,
  type ManifestLimits,
} from '../manifests/source-content.ts';
import { KustomizeRenderer } from '../kustomize/kustomizations.ts';
import { findSpecialFolders } from '../manifests/special-folders.ts';
import { goOnFrom, keepCommit, type KeptCommit, type ReadCommit } from './read-commit.ts';
import { goodReadings, lastDeclaredObjects, locatedAtCommit } from './last-good.ts';
import { escalateDocumentWarnings } from '../manifests/escalate-document-warnings.ts';
import {
  escalateUnreadablePlaces,
  manifestSelector,
  type ManifestSelector,
} from '../manifests/manifest-selection.ts';
import type { SourceReaderOptions } from './source-reader-options.ts';
import { hasErrors } from '../manifests/read-content.ts';

/** Reads the commits of one repository, each as the difference to the previous one. */
export class SourceReader {
  readonly #repository: GitRepository;
  readonly #selector: ManifestSelector;
  readonly #limits: ManifestLimits;
  readonly #keepLastGood: boolean;
  readonly #options: SourceReaderOptions;
  readonly #ambient: Readonly<Record<string, string | undefined>>;
  readonly #kustomize = new KustomizeRenderer();
  #memory: ReadCommit | undefined;
  /** The last commit in which every file could be read. */
  #lastComplete: SourceContent | undefined;
  /** The last complete commit, until it is stored for the next start. */
  #unsettled: string | undefined;

  constructor(repository: GitRepository, options: SourceReaderOptions = {}) {
    this.#repository = repository;
    this.#options = options;
    this.#selector = manifestSelector(options.paths ?? []);
    this.#limits = options.limits ?? DEFAULT_MANIFEST_LIMITS;
    this.#keepLastGood = options.keepLastGood ?? false;
    this.#ambient = options.ambient ?? {};
    this.#memory = options.start && goOnFrom(options.start, (file, commit) => this.#textOf(file, commit));
  }

  /** The last read commit, for a later reader with the same paths and limits. */
  keep(): KeptCommit | undefined {
    return this.#memory && keepCommit(this.#memory);
  }

  /**
   * Reads a commit.
   * @param commit full id
   * @throws BerthError if the repository cannot be read, never because of the content of files
   */
  async read(commit: string): Promise<SourceContent> {
    const info = await this.#repository.commit(commit);
    const before = this.#memory;
    if (before?.commit === commit && before.plain !== undefined) {
      await this.settle();
      return (this.#lastComplete = before.plain);
    }
    // If the history was rewritten, the previous commit may be gone. Then everything is listed, as the first time.
    const changes =
      before === undefined || before.commit === commit
        ? undefined
        : await this.#repository.diffTrees(before.commit, commit).catch(() => undefined);
    if (before?.plain !== undefined && changes !== undefined) {
      const content = await this.#readFew(info, { ...before, plain: before.plain }, changes);
      if (content !== undefined) return content;
    }
    const listing = await this.#listing(commit, changes);
    const { entries, selection } = listing;
    const readings = new Map<string, FileVersionReading>();
    const unread: TreeFile[] = [];
    const kustomizations = new Set(selection.kustomizations.values());
    for (const path of selection.paths) {
      if (kustomizations.has(path)) continue;
      const id = entries.get(path)?.id ?? '';
      const reading = before?.readings.get(path);
      if (reading?.id === id && !isMissing(reading)) readings.set(path, reading);
      else unread.push({ path, id });
    }
    await this.#readFiles(unread, readings);
    if (unread.length > 0) this.#settleCache(readings);
    if (kustomizations.size > 0)
      for (const [path, parsed] of await this.#renderKustomizations(entries))
        readings.set(path, { id: '', ...fileReading(parsed) });
    this.#memory = { ...listing, readings, plain: undefined };
    const content = await this.#assemble(info, selection, readings);
    const isPlain = content.complete && content.problems.length === 0 && kustomizations.size === 0;
    this.#memory = { ...listing, readings, plain: isPlain ? content : undefined };
    return content;
  }

  /** Stores the last read state for the next start. */
  async settle(): Promise<void> {
    const commit = this.#unsettled;
    if (commit === undefined) return;
    await this.#options.lastComplete?.store(commit);
    if (this.#unsettled === commit) this.#unsettled = undefined;
  }

  /** The mirror lost its pins, so the next `settle` must pin the last complete commit again. */
  fileRemoved(): void {
    this.#unsettled ??= this.#lastComplete?.commit?.id;
  }

  /** Reads a commit that changed only the content of a few files. Undefined if the commit must be read in full. */
  async #readFew(
    info: CommitInfo,
    before: ReadCommit & { readonly plain: SourceContent },
    changes: readonly TreeChange[],
  ): Promise<SourceContent | undefined> {
    const files = fewChangedFiles(before, changes);
    if (files === undefined) return undefined;
    const fresh = new Map<string, FileVersionReading>();
    await this.#readFiles(files, fresh);
    const objects = replaceObjects(before.plain.objects, before.readings, fresh);
    if (objects === undefined) return undefined;
    for (const { path, entry } of changes) if (entry !== undefined) before.entries.set(path, entry);
    for (const [path, reading] of fresh) before.readings.set(path, reading);
    this.#settleCache(before.readings);
    const textOf: SourceContent['textOf'] = (file, commit) => this.#textOf(file, commit ?? info.id);
    const fleet = { ...before.plain, commit: info, objects, textOf };
    this.#memory = { ...before, commit: info.id, plain: fleet };
    this.#lastComplete = fleet;
    // The names are the same as before, so until it is stored, the recorded commit serves a restart just as well.
    this.#unsettled = info.id;
    return fleet;
  }

  async #readFiles(files: readonly TreeFile[], into: Map<string, FileVersionReading>): Promise<void> {
    const { cache, pool } = this.#options;
    const tools = { limits: this.#limits, cache, pool };
    await readFiles(this.#repository, files, tools, (path, reading) => into.set(path, reading));
  }

  #settleCache(readings: ReadCommit['readings']): void {
    this.#options.cache?.settle(() => new Set([...readings.values()].map(({ id }) => id)));
  }

  #listing(
    commit: string,
    changes: readonly TreeChange[] | undefined,
  ): Promise<CommitListing> | CommitListing {
    const before = this.#memory;
    const rules = { selector: this.#selector, limits: this.#limits };
    if (before?.commit === commit) return before;
    if (before === undefined || changes === undefined) return listCommit(this.#repository, commit, rules);
    return listNextCommit(before, commit, { ...rules, changes });
  }

  async #assemble(
    info: CommitInfo,
    selection: ManifestSelection,
    readings: ReadonlyMap<string, FileVersionReading>,
  ): Promise<SourceContent> {
    const inOrder: FileReading[] = [];
    const last = { readings: this.#keepLastGood ? readings : new Map<string, FileVersionReading>() };
    const good = await goodReadings(this.#repository, { ...last, commit: info.id, limits: this.#limits });
    let complete = !selection.problems.some(({ severity }) => severity === 'error');
    for (const path of selection.paths) {
      const reading = readings.get(path);
      if (reading === undefined) continue;
      const broken = hasErrors(reading.parsed);
      complete &&= !broken;
      inOrder.push(good.get(path) ?? reading);
    }
    const { objects, problems: found, complete: filled } = assembleObjects(inOrder, '');
    const problems = await this.#documentsInThePlaceOfObjects(found, objects, info.id);
    complete &&= problems === found;
    const refusals = await this.#linksInThePlaceOfFiles(selection.problems, info.id);
    complete &&= filled && refusals === selection.problems;
    const content: SourceContent = {
      commit: info,
      objects: complete || !this.#keepLastGood ? objects : await this.#withVanished(objects, info.id),
      problems: [...refusals, ...problems.map((problem) => atCommit(problem, info.id))],
      files: selection.paths.length,
      complete,
      textOf: (file, commit) => this.#textOf(file, commit ?? info.id),
    };
    if (complete) {
      this.#lastComplete = content;
      this.#unsettled = info.id;
      await this.settle();
    }
    return content;
  }

  /** While a file cannot be read, a missing object may be in it. Such an object stays as it was last declared. */
  async #withVanished(
    objects: readonly ParsedManifest[],
    commitId: string,
  ): Promise<readonly ParsedManifest[]> {
    this.#lastComplete ??= await this.#readLastComplete(commitId);
    const present = new Set(objects.map(objectKey));
    const { objects: before = [], commit } = this.#lastComplete ?? {};
    const vanished = before
      .filter((object) => !present.has(objectKey(object)))
      .map((object) => locatedAtCommit(object, commit?.id ?? ''));
    const last = { objects: vanished, commit: commitId, limits: this.#limits };
    return vanished.length === 0
      ? objects
      : [...objects, ...(await lastDeclaredObjects(this.#repository, last))];
  }

  /** A link or submodule in place of a folder of manifests hides them, so it is an error like a broken file. */
  async #linksInThePlaceOfFiles(problems: readonly Problem[], commitId: string): Promise<readonly Problem[]> {
    if (!this.#keepLastGood || !problems.some(({ severity }) => severity === 'warning')) return problems;
    this.#lastComplete ??= await this.#readLastComplete(commitId);
    const files = (this.#lastComplete?.objects ?? []).map(({ location }) => location.file);
    return escalateUnreadablePlaces(problems, files);
  }

  /**
   * A document without kind and apiVersion may be an object that the file declared before. Then it is an error like a
   * broken file.
   */
  async #documentsInThePlaceOfObjects(
    problems: readonly Problem[],
    objects: readonly ParsedManifest[],
    commitId: string,
  ): Promise<readonly Problem[]> {
    if (!this.#keepLastGood || !problems.some(({ code }) => code === NOT_AN_OBJECT)) return problems;
    this.#lastComplete ??= await this.#readLastComplete(commitId);
    return escalateDocumentWarnings(problems, objects, this.#lastComplete?.objects ?? []);
  }

  /** After a restart, the previous fleet is read again from the recorded commit. */
  async #readLastComplete(current: string): Promise<SourceContent | undefined> {
    const commit = await this.#options.lastComplete?.load();
    if (commit === undefined || commit === current) return undefined;
    const { paths, limits, ambient } = this.#options;
    return new SourceReader(this.#repository, { paths, limits, ambient }).read(commit);
  }

  #renderKustomizations(entries: ReadonlyMap<string, TreeEntry>): Promise<ReadonlyMap<string, ParsedFile>> {
    const { files, problems } = splitSafeEntries([...entries.values()]);
    return this.#kustomize.render({
      kustomizations: findSpecialFolders([...entries.values()]).kustomizations,
      isWanted: (path) => this.#selector.covers(path),
      // Links, submodules and names that could leave the folder are not passed on.
      versions: new Map(files.map(({ path, id }) => [path, id])),
      refused: problemsByFile(problems),
      read: (paths) => this.#readAll(paths, entries),
      ambient: this.#ambient,
    });
  }

  async #readAll(
    paths: readonly string[],
    entries: ReadonlyMap<string, TreeEntry>,
  ): Promise<ReadonlyMap<string, Buffer>> {
    const contents = new Map<string, Buffer>();
    let index = 0;
    const ids = paths.map((path) => entries.get(path)?.id ?? '');
    await this.#repository.readBlobs(ids, { maxBytes: this.#limits.maxFileBytes }, (blob) => {
      const path = paths[index++];
      if (path !== undefined && blob.state === 'read') contents.set(path, Buffer.from(blob.bytes));
    });
    return contents;
  }

  async #textOf(file: string, commit: string): Promise<string | undefined> {
    const entries =
      this.#memory?.commit === commit
        ? this.#memory.entries
        : new Map((await this.#repository.listTree(commit)).map((entry) => [entry.path, entry]));
    const entry = entries.get(file);
    let text: string | undefined;
    if (entry !== undefined)
      await this.#repository.readBlobs([entry.id], { maxBytes: this.#limits.maxFileBytes }, (blob) => {
        if (blob.state === 'read') text = blob.bytes.toString('utf8');
      });
    return text;
  }
}
