import type { CommitInfo, GitRepository, TreeEntry } from '../../adapters/git/git-repository.ts';
import type { ParsedFile, ParsedManifest } from '../../adapters/yaml/parse-manifests.ts';
import type { Problem } from '../../core/model/problem.ts';
import { InputError } from '../../core/errors.ts';
import { assembleObjects, fileReading, objectKey } from './assemble-fleet.ts';
import type { FileReading } from './assemble-fleet.ts';
import { readFiles } from './file-readings.ts';
import { sortOutEntries } from '../../adapters/git/tree-safety.ts';
import type { TreeFile } from '../../adapters/git/tree-safety.ts';
import type { FileVersionReading } from './file-readings.ts';
import { DEFAULT_MANIFEST_LIMITS } from './fleet.ts';
import type { Fleet, ManifestLimits } from './fleet.ts';
import { KustomizeRenderer } from './kustomizations.ts';
import { findSpecialFolders } from './special-folders.ts';
import { lastGoodReading } from './last-good.ts';
import { manifestSelector, selectManifests } from './manifest-selection.ts';
import type { ManifestSelector } from './manifest-selection.ts';
import type { ParsePool } from './parse-pool.ts';
import type { ParsedCache } from './parsed-cache.ts';
import { hasErrors } from './read-content.ts';

export interface FleetReaderOptions {
  /** Globs of manifests; none: every YAML and JSON file. */
  readonly paths?: readonly string[] | undefined;
  readonly limits?: ManifestLimits | undefined;
  /**
   * Put the last good version of a file in the place of a broken one. Off for checks and previews, which are to show what
   * the commit itself says.
   */
  readonly keepLastGood?: boolean | undefined;
  /** Where the last commit that could be read completely is remembered across restarts. */
  readonly lastComplete?: LastCompleteStore | undefined;
  /** Where parsed files are kept across restarts. */
  readonly cache?: ParsedCache | undefined;
  /** Threads that parse when many files are new. */
  readonly pool?: ParsePool | undefined;
  /** The process's environment: where to find kubectl, for kustomizations. Absent: they are refused. */
  readonly ambient?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface LastCompleteStore {
  readonly load: () => Promise<string | undefined>;
  readonly store: (commit: string) => Promise<void>;
}

/** What is remembered of the commit that was read last, so that the next one costs only its difference. */
interface Memory {
  readonly commit: string;
  readonly entries: ReadonlyMap<string, TreeEntry>;
  readonly selection: Selection;
  readonly readings: ReadonlyMap<string, FileVersionReading>;
}

/** Paths of the manifests in order, and what was refused. Both depend on names and modes alone, not on contents. */
interface Selection {
  readonly paths: readonly string[];
  readonly problems: readonly Problem[];
  /** Folder of each kustomization and its file. */
  readonly kustomizations: ReadonlyMap<string, string>;
}

/** Turns commits of one repository into fleets, each from the difference to the one before. */
export class FleetReader {
  readonly #repository: GitRepository;
  readonly #selector: ManifestSelector;
  readonly #limits: ManifestLimits;
  readonly #keepLastGood: boolean;
  readonly #options: FleetReaderOptions;
  readonly #ambient: Readonly<Record<string, string | undefined>>;
  readonly #kustomize = new KustomizeRenderer();
  #memory: Memory | undefined;
  /** The last commit in which every file could be read. */
  #lastComplete: Fleet | undefined;

  constructor(repository: GitRepository, options: FleetReaderOptions = {}) {
    this.#repository = repository;
    this.#options = options;
    this.#selector = manifestSelector(options.paths ?? []);
    this.#limits = options.limits ?? DEFAULT_MANIFEST_LIMITS;
    this.#keepLastGood = options.keepLastGood ?? false;
    this.#ambient = options.ambient ?? {};
  }

  /** Reads a commit by its full id. Throws when the repository cannot be read; what files hold never throws. */
  async read(commit: string): Promise<Fleet> {
    const info = await this.#repository.commit(commit);
    const { entries, selection } = await this.#listing(commit);
    const known = this.#memory?.readings;
    const readings = new Map<string, FileVersionReading>();
    const unread: TreeFile[] = [];
    const kustomizations = new Set(selection.kustomizations.values());
    for (const path of selection.paths) {
      if (kustomizations.has(path)) continue;
      const id = entries.get(path)?.id ?? '';
      const reading = known?.get(path);
      if (reading?.id === id) readings.set(path, reading);
      else unread.push({ path, id });
    }
    const { cache, pool } = this.#options;
    const tools = { limits: this.#limits, cache, pool };
    await readFiles(this.#repository, unread, tools, (path, reading) => readings.set(path, reading));
    if (unread.length > 0) cache?.settle(new Set([...readings.values()].map(({ id }) => id)));
    if (kustomizations.size > 0)
      for (const [path, parsed] of await this.#renderKustomizations(entries))
        readings.set(path, { id: '', ...fileReading(parsed) });
    this.#memory = { commit, entries, selection, readings };
    return this.#assemble(info, selection, readings);
  }

  async #listing(commit: string): Promise<Pick<Memory, 'entries' | 'selection'>> {
    const before = this.#memory;
    if (before?.commit === commit) return before;
    // After a rewritten history the commit of before may be gone: then everything is listed, as the first time.
    const changes =
      before === undefined
        ? undefined
        : await this.#repository.diffTrees(before.commit, commit).catch(() => undefined);
    if (before === undefined || changes === undefined) {
      const listed = await this.#repository.listTree(commit);
      const entries = new Map(listed.map((entry) => [entry.path, entry]));
      return { entries, selection: this.#select(entries, commit) };
    }
    const entries = new Map(before.entries);
    let sameNames = true;
    for (const { path, entry } of changes) {
      sameNames &&= entry !== undefined && entries.get(path)?.mode === entry.mode;
      if (entry === undefined) entries.delete(path);
      else entries.set(path, entry);
    }
    if (sameNames && before.selection.problems.length === 0) return { entries, selection: before.selection };
    // A Map keeps the order of insertion; the result must not depend on how we came to this commit.
    const sorted = new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
    return { entries: sorted, selection: this.#select(sorted, commit) };
  }

  #select(entries: ReadonlyMap<string, TreeEntry>, commit: string): Selection {
    const all = [...entries.values()];
    const special = findSpecialFolders(all.filter(({ path }) => this.#selector.covers(path)));
    const { files, problems } = selectManifests(
      all.filter(({ path }) => !special.isInside(path)),
      this.#selector,
    );
    if (files.length > this.#limits.maxFiles)
      throw new InputError(`${files.length} manifests, expected at most ${this.#limits.maxFiles}`, {
        code: 'source.too-many-files',
        subject: `Commit ${commit}`,
        hint: 'narrow the paths of the source',
      });
    const paths = [...files.map(({ path }) => path), ...special.kustomizations.values()].sort();
    const refusals = [...problems, ...special.problems].map((problem) => withCommit(problem, commit));
    return { paths, problems: refusals, kustomizations: special.kustomizations };
  }

  async #assemble(
    info: CommitInfo,
    selection: Selection,
    readings: ReadonlyMap<string, FileVersionReading>,
  ): Promise<Fleet> {
    const inOrder: FileReading[] = [];
    let complete = !selection.problems.some(({ severity }) => severity === 'error');
    for (const path of selection.paths) {
      const reading = readings.get(path);
      if (reading === undefined) continue;
      const broken = hasErrors(reading.parsed);
      complete &&= !broken;
      inOrder.push(
        broken && this.#keepLastGood && reading.id !== ''
          ? await this.#withLastGood(path, info.id, reading)
          : reading,
      );
    }
    const { objects, problems, complete: filled } = assembleObjects(inOrder, '');
    complete &&= filled;
    const fleet: Fleet = {
      commit: info,
      objects: complete || !this.#keepLastGood ? objects : await this.#withVanished(objects, info.id),
      problems: [...selection.problems, ...problems.map((problem) => withCommit(problem, info.id))],
      files: selection.paths.length,
      complete,
      textOf: (file, commit) => this.#textOf(file, commit ?? info.id),
    };
    if (complete) {
      this.#lastComplete = fleet;
      await this.#options.lastComplete?.store(info.id);
    }
    return fleet;
  }

  async #withLastGood(path: string, commit: string, reading: FileReading): Promise<FileReading> {
    const good = await lastGoodReading(this.#repository, { path, commit, limits: this.#limits });
    if (good === undefined) return reading;
    const manifests = good.parsed.manifests.map((manifest) => ofCommit(manifest, good.commit));
    return fileReading({ manifests, problems: reading.parsed.problems });
  }

  /** While a file cannot be read, an object that is nowhere to be found may be in it: it stays as it was. */
  async #withVanished(
    objects: readonly ParsedManifest[],
    commitId: string,
  ): Promise<readonly ParsedManifest[]> {
    this.#lastComplete ??= await this.#readLastComplete(commitId);
    const present = new Set(objects.map(objectKey));
    const { objects: before = [], commit } = this.#lastComplete ?? {};
    const vanished = before.filter((object) => !present.has(objectKey(object)));
    return [...objects, ...vanished.map((object) => ofCommit(object, commit?.id ?? ''))];
  }

  /** After a restart the fleet of before is read again, from the commit that was remembered. */
  async #readLastComplete(current: string): Promise<Fleet | undefined> {
    const commit = await this.#options.lastComplete?.load();
    if (commit === undefined || commit === current) return undefined;
    const { paths, limits, ambient } = this.#options;
    return new FleetReader(this.#repository, { paths, limits, ambient }).read(commit);
  }

  #renderKustomizations(entries: ReadonlyMap<string, TreeEntry>): Promise<ReadonlyMap<string, ParsedFile>> {
    const { files } = sortOutEntries([...entries.values()]);
    return this.#kustomize.render({
      kustomizations: findSpecialFolders([...entries.values()]).kustomizations,
      isWanted: (path) => this.#selector.covers(path),
      // Links and submodules are not handed over, nor are names that could leave the folder.
      versions: new Map(files.map(({ path, id }) => [path, id])),
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

function withCommit(problem: Problem, commit: string): Problem {
  if (problem.location === undefined || problem.location.commit !== undefined) return problem;
  return { ...problem, location: { ...problem.location, commit } };
}

/** An object that stands for an earlier commit than the fleet it is in. */
function ofCommit(manifest: ParsedManifest, commit: string): ParsedManifest {
  return { ...manifest, location: { ...manifest.location, commit } };
}
