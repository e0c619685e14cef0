import type {
  CommitInfo,
  GitRepository,
  TreeChange,
  TreeEntry,
} from '@berth/git-reader/repository/git-repository';
import { problemsByFile, splitSafeEntries, type TreeFile } from '@berth/git-reader/repository/tree-safety';
import { BerthError } from '@berth/runtime/errors';
import type { ParsedManifest } from '../../../adapters/yaml/parse-manifests.ts';
import { KustomizeRenderer } from '../kustomize/kustomizations.ts';
import type { KustomizeTree } from '../kustomize/kustomize-tree.ts';
import { findUnlistedManifests, type FolderUse } from '../kustomize/unlisted-manifests.ts';
import { assembleObjects, fileReading, type FileReading } from '../manifests/assemble-objects.ts';
import {
  type CommitListing,
  type ManifestSelection,
  listCommit,
  listNextCommit,
  atCommit,
} from '../manifests/commit-listing.ts';
import { manifestSelector, type ManifestSelector } from '../manifests/manifest-selection.ts';
import {
  DEFAULT_MANIFEST_LIMITS,
  type SourceContent,
  type ManifestLimits,
} from '../manifests/source-content.ts';
import { findSpecialFolders } from '../manifests/special-folders.ts';
import { findBlindSpots } from './blind-spots.ts';
import { type FileVersionReading, isMissing, readFiles } from './file-readings.ts';
import {
  type AssembledCommit,
  findOddFiles,
  judgeCommit,
  type JudgedCommit,
  type WalkedCommits,
} from './judge-commit.ts';
import type { EarlierCommit } from './doubts.ts';
import { earlierReadings, type EarlierReading } from './last-good.ts';
import {
  goOnFrom,
  keepCommit,
  type KeptCommit,
  type ReadCommit,
  type SourceReaderOptions,
} from './read-commit.ts';

/** How far the history is read if no complete commit is recorded. */
const MAX_EARLIER_COMMITS = 50;

/** Reads the commits of one repository, each as the difference to the previous one. */
export class SourceReader {
  readonly #repository: GitRepository;
  readonly #selector: ManifestSelector;
  readonly #limits: ManifestLimits;
  readonly #keepLastGood: boolean;
  readonly #options: SourceReaderOptions;
  readonly #ambient: Readonly<Record<string, string | undefined>>;
  #kustomize = new KustomizeRenderer();
  #memory: ReadCommit | undefined;
  /** The last commit in which every file could be read; until there is one, the one that the history has. */
  #lastComplete: EarlierCommit | undefined;
  /** Nothing is known of the commits before the first one that is read. */
  #isBeginning = false;
  /** What the broken files of the last commit declared before. */
  #earlier: ReadonlyMap<string, EarlierReading> = new Map();
  /** The last complete commit, until it is stored for the next start. */
  #notStored: string | undefined;

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
    if (this.#memory === undefined) return undefined;
    const { commit, objects } = this.#lastComplete ?? {};
    // The whole content would hold its reader, and that one the reader before.
    return { ...keepCommit(this.#memory), lastComplete: objects && { commit, objects } };
  }

  /**
   * Reads a commit.
   * @param commit full id
   * @throws BerthError if the repository cannot be read, never because of the content of files
   */
  async read(commit: string): Promise<SourceContent> {
    const info = await this.#repository.commit(commit);
    const before = this.#memory;
    const { start } = this.#options;
    if (start?.commit === commit) this.#lastComplete ??= start.lastComplete;
    if (before?.commit === commit && before.plain !== undefined) {
      await this.settle();
      this.#lastComplete = before.plain;
      return before.plain;
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
    let inFolders: FolderUse = { files: 0, problems: [] };
    if (kustomizations.size > 0) {
      const tree = this.#treeOf(entries);
      const rendered = await this.#kustomize.render(tree);
      for (const [path, { inputFolders, ...parsed }] of rendered)
        readings.set(path, { id: '', inputFolders, ...fileReading(parsed) });
      inFolders = await findUnlistedManifests(tree, rendered.values());
    }
    this.#memory = { ...listing, readings, plain: undefined };
    const content = await this.#assemble(info, selection, readings, inFolders);
    const isPlain = content.complete && content.problems.length === 0 && kustomizations.size === 0;
    this.#memory = { ...listing, readings, plain: isPlain ? content : undefined };
    return content;
  }

  /** Stores the last read state for the next start. */
  async settle(): Promise<void> {
    const commit = this.#notStored;
    if (commit === undefined) return;
    await this.#options.lastComplete?.store(commit);
    if (this.#notStored === commit) this.#notStored = undefined;
  }

  /** The mirror lost its pins, so the next `settle` must pin the last complete commit again. */
  fileRemoved(): void {
    this.#notStored ??= this.#lastComplete?.commit?.id;
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
    this.#notStored = info.id;
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
    inFolders: FolderUse,
  ): Promise<SourceContent> {
    const last = { readings: this.#keepLastGood ? readings : new Map<string, FileVersionReading>() };
    const history = { ...last, commit: info.id, limits: this.#limits, known: this.#earlier };
    const before = (this.#earlier = await earlierReadings(this.#repository, history));
    const inOrder = selection.paths.flatMap((path) => before.get(path)?.good ?? readings.get(path) ?? []);
    const spots = findBlindSpots({ selection, readings, before });
    const read = { info, selection, readings, spots, ...assembleObjects(inOrder, '') };
    const { objects, problems: found } = read;
    const plain: JudgedCommit = {
      objects,
      problems: found,
      refusals: selection.problems,
      complete: read.complete && spots.length === 0,
    };
    const isClear = plain.complete && selection.problems.length === 0 && findOddFiles(found).size === 0;
    const judged = isClear || !this.#keepLastGood ? plain : await this.#judge(read);
    const { refusals, problems, ...content } = {
      ...judged,
      commit: info,
      files: selection.paths.length - selection.kustomizations.size + inFolders.files,
      textOf: (file: string, commit?: string) => this.#textOf(file, commit ?? info.id),
    };
    const whole = {
      ...content,
      problems: [...refusals, ...problems, ...inFolders.problems].map((problem) =>
        atCommit(problem, info.id),
      ),
    };
    if (whole.complete) {
      this.#lastComplete = whole;
      this.#notStored = info.id;
      await this.settle();
    }
    return whole;
  }

  async #judge(read: AssembledCommit): Promise<JudgedCommit> {
    let earlier: Promise<WalkedCommits> | undefined;
    return judgeCommit(read, {
      repository: this.#repository,
      limits: this.#limits,
      last: await this.#readLastComplete(read.info.id),
      walkBack: () => (earlier ??= this.#walkBack(read.info)),
      // Later commits are compared with it, too, and not with those between: in a plan, the commits of a branch.
      lastOf: async (commits) => (this.#lastComplete = await this.#lastCompleteOf(commits)),
      entries: this.#memory?.entries ?? new Map(),
    });
  }

  /** After a restart, the last complete commit is read again. `same`: it is the current one. */
  async #readLastComplete(current: string): Promise<EarlierCommit | 'same' | undefined> {
    if (this.#lastComplete !== undefined) return this.#lastComplete;
    const commit = await this.#options.lastComplete?.load();
    if (commit === undefined) return undefined;
    if (commit === current) return 'same';
    return (this.#lastComplete = await this.#withoutMemory().read(commit));
  }

  /** Reads the nearest earlier commits along the first parents, back to one in which everything can be read. */
  async #walkBack({ parents }: CommitInfo): Promise<WalkedCommits> {
    const reader = this.#withoutMemory();
    const commits: SourceContent[] = [];
    let [parent] = this.#isBeginning ? [] : parents;
    while (parent !== undefined && commits.length < MAX_EARLIER_COMMITS) {
      let content: SourceContent;
      try {
        content = await reader.read(parent);
      } catch (error) {
        // The history of a shallow repository is cut off.
        if (error instanceof BerthError) return { commits, isCut: true };
        throw error;
      }
      commits.push(content);
      if (content.complete) break;
      parent = content.commit?.parents[0];
    }
    return { commits, isCut: false };
  }

  /** Reads commits on as a controller that began with the oldest one did. @param commits newest first */
  async #lastCompleteOf(commits: readonly SourceContent[]): Promise<EarlierCommit | undefined> {
    const oldest = commits.at(-1);
    const reader = this.#withoutMemory({ keepLastGood: true });
    reader.#isBeginning = true;
    if (oldest?.complete === true) reader.#lastComplete = oldest;
    const rest = oldest?.complete === true ? commits.slice(0, -1) : commits;
    for (const { commit } of rest.toReversed()) if (commit !== undefined) await reader.read(commit.id);
    return reader.#lastComplete;
  }

  /** A reader that shows commits alone, without what earlier ones declared. */
  #withoutMemory(options: Pick<SourceReaderOptions, 'keepLastGood'> = {}): SourceReader {
    const { paths, limits, ambient } = this.#options;
    const start = this.#memory && keepCommit(this.#memory);
    const reader = new SourceReader(this.#repository, { ...options, paths, limits, ambient, start });
    reader.#kustomize = this.#kustomize;
    return reader;
  }

  #treeOf(entries: ReadonlyMap<string, TreeEntry>): KustomizeTree {
    const { files, problems } = splitSafeEntries([...entries.values()]);
    return {
      kustomizations: findSpecialFolders([...entries.values()]).kustomizations,
      isWanted: (path) => this.#selector.covers(path),
      // Links, submodules and names that could leave the folder are not passed on.
      versions: new Map(files.map(({ path, id }) => [path, id])),
      refused: problemsByFile(problems),
      read: (paths) => this.#readAll(paths, entries),
      ambient: this.#ambient,
    };
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

  async #entriesOf(commit: string): Promise<ReadonlyMap<string, TreeEntry>> {
    if (this.#memory?.commit === commit) return this.#memory.entries;
    return new Map((await this.#repository.listTree(commit)).map((entry) => [entry.path, entry]));
  }

  async #textOf(file: string, commit: string): Promise<string | undefined> {
    const entry = (await this.#entriesOf(commit)).get(file);
    let text: string | undefined;
    if (entry !== undefined)
      await this.#repository.readBlobs([entry.id], { maxBytes: this.#limits.maxFileBytes }, (blob) => {
        if (blob.state === 'read') text = blob.bytes.toString('utf8');
      });
    return text;
  }
}

/** The previous commit. */
interface Before {
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** The readings of all manifests. */
  readonly readings: ReadonlyMap<string, FileReading>;
}

/** With at least this many changed files all objects are assembled again, which is cheap compared with reading them. */
const MAX_FEW = 64;

/**
 * The manifests to read for a commit that changed only the content of a few files. Undefined when files were added or
 * removed, when a file mode changed, or when many files changed: then all names are checked.
 */
function fewChangedFiles(
  { entries, readings }: Before,
  changes: readonly TreeChange[],
): readonly TreeFile[] | undefined {
  if (changes.length > MAX_FEW) return undefined;
  const files: TreeFile[] = [];
  for (const { path, entry } of changes) {
    if (entry === undefined || entries.get(path)?.mode !== entry.mode) return undefined;
    if (readings.has(path)) files.push({ path, id: entry.id });
  }
  return files;
}

/**
 * Replaces the objects of a few files in a fleet. Undefined if all objects must be assembled again:
 * a file has problems, contains other objects than before, or belongs to a folder of manifests.
 */
function replaceObjects(
  objects: readonly ParsedManifest[],
  before: ReadonlyMap<string, FileReading>,
  fresh: ReadonlyMap<string, FileReading>,
): readonly ParsedManifest[] | undefined {
  const replaced = [...objects];
  for (const [path, after] of fresh) {
    const old = before.get(path);
    if (old === undefined || !isPlain(old) || !isPlain(after)) return undefined;
    if (old.keys.length !== after.keys.length) return undefined;
    for (const [index, key] of old.keys.entries()) {
      // Not in the fleet: it is part of a work, or another object with its key is used.
      const at = replaced.indexOf(old.parsed.manifests[index] as ParsedManifest);
      if (at === -1 || after.keys[index] !== key) return undefined;
      replaced[at] = after.parsed.manifests[index] as ParsedManifest;
    }
  }
  return replaced;
}

function isPlain({ parsed, folders }: FileReading): boolean {
  return parsed.problems.length === 0 && folders.length === 0;
}
