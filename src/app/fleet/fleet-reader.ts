import type { CommitInfo, GitRepository, TreeEntry } from '../../adapters/git/git-repository.ts';
import type { ParsedManifest } from '../../adapters/yaml/parse-manifests.ts';
import type { Problem } from '../../core/model/problem.ts';
import { InputError } from '../../core/errors.ts';
import { assembleObjects, objectKey } from './assemble-fleet.ts';
import type { FileReading } from './assemble-fleet.ts';
import { readFiles } from './file-readings.ts';
import type { FileVersionReading } from './file-readings.ts';
import { DEFAULT_MANIFEST_LIMITS } from './fleet.ts';
import type { Fleet, ManifestLimits } from './fleet.ts';
import { lastGoodReading } from './last-good.ts';
import { manifestSelector, selectManifests } from './manifest-selection.ts';
import type { ManifestSelector } from './manifest-selection.ts';
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
}

/** What is remembered of the commit that was read last, so that the next one costs only its difference. */
interface Memory {
  readonly commit: string;
  readonly entries: ReadonlyMap<string, TreeEntry>;
  readonly readings: ReadonlyMap<string, FileVersionReading>;
}

/** Turns commits of one repository into fleets, each from the difference to the one before. */
export class FleetReader {
  readonly #repository: GitRepository;
  readonly #selector: ManifestSelector;
  readonly #limits: ManifestLimits;
  readonly #keepLastGood: boolean;
  #memory: Memory | undefined;
  /** The last commit in which every file could be read. */
  #lastComplete: Fleet | undefined;

  constructor(repository: GitRepository, options: FleetReaderOptions = {}) {
    this.#repository = repository;
    this.#selector = manifestSelector(options.paths ?? []);
    this.#limits = options.limits ?? DEFAULT_MANIFEST_LIMITS;
    this.#keepLastGood = options.keepLastGood ?? false;
  }

  /** Reads a commit by its full id. Throws when the repository cannot be read; what files hold never throws. */
  async read(commit: string): Promise<Fleet> {
    const info = await this.#repository.commit(commit);
    const entries = await this.#entriesOf(commit);
    const { files, problems } = selectManifests([...entries.values()], this.#selector);
    if (files.length > this.#limits.maxFiles)
      throw new InputError(`${files.length} manifests, expected at most ${this.#limits.maxFiles}`, {
        code: 'source.too-many-files',
        subject: `Commit ${commit}`,
        hint: 'narrow the paths of the source',
      });
    const known = this.#memory?.readings;
    const readings = new Map<string, FileVersionReading>();
    const unread = files.filter((file) => {
      const reading = known?.get(file.path);
      if (reading?.id !== file.id) return true;
      readings.set(file.path, reading);
      return false;
    });
    await readFiles(this.#repository, unread, this.#limits, (path, reading) => readings.set(path, reading));
    this.#memory = { commit, entries, readings };
    const refusals = problems.map((problem) => withCommit(problem, commit));
    return this.#assemble(info, { order: files.map((file) => file.path), readings, refusals });
  }

  async #entriesOf(commit: string): Promise<Map<string, TreeEntry>> {
    const before = this.#memory;
    if (before?.commit === commit) return new Map(before.entries);
    // After a rewritten history the commit of before may be gone: then everything is listed, as the first time.
    const changes =
      before === undefined
        ? undefined
        : await this.#repository.diffTrees(before.commit, commit).catch(() => undefined);
    if (before === undefined || changes === undefined) {
      const entries = await this.#repository.listTree(commit);
      return new Map(entries.map((entry) => [entry.path, entry]));
    }
    const entries = new Map(before.entries);
    let added = false;
    for (const { path, entry } of changes) {
      if (entry === undefined) entries.delete(path);
      else {
        added ||= !entries.has(path);
        entries.set(path, entry);
      }
    }
    // A Map keeps the order of insertion; the result must not depend on how we came to this commit.
    return added ? new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1))) : entries;
  }

  async #assemble(
    info: CommitInfo,
    read: {
      readonly order: readonly string[];
      readonly readings: ReadonlyMap<string, FileVersionReading>;
      readonly refusals: readonly Problem[];
    },
  ): Promise<Fleet> {
    const inOrder: FileReading[] = [];
    let complete = !read.refusals.some(({ severity }) => severity === 'error');
    for (const path of read.order) {
      const reading = read.readings.get(path);
      if (reading === undefined) continue;
      const broken = hasErrors(reading.parsed);
      complete &&= !broken;
      inOrder.push(
        broken && this.#keepLastGood
          ? await this.#withLastGood(path, info.id, reading)
          : { parsed: reading.parsed, commit: info.id },
      );
    }
    const { objects, problems, complete: filled } = assembleObjects(inOrder, '');
    complete &&= filled;
    const fleet: Fleet = {
      commit: info,
      objects: complete || !this.#keepLastGood ? objects : this.#withVanished(objects),
      problems: [...read.refusals, ...problems],
      files: read.order.length,
      complete,
      textOf: (file, commit) => this.#textOf(file, commit ?? info.id),
    };
    if (complete) this.#lastComplete = fleet;
    return fleet;
  }

  async #withLastGood(path: string, commit: string, reading: FileVersionReading): Promise<FileReading> {
    const good = await lastGoodReading(this.#repository, { path, commit, limits: this.#limits });
    if (good === undefined) return { parsed: reading.parsed, commit };
    const problems = reading.parsed.problems.map((problem) => withCommit(problem, commit));
    return { parsed: { manifests: good.parsed.manifests, problems }, commit: good.commit };
  }

  /** While a file cannot be read, an object that is nowhere to be found may be in it: it stays as it was. */
  #withVanished(objects: readonly ParsedManifest[]): ParsedManifest[] {
    const present = new Set(objects.map(objectKey));
    const vanished = this.#lastComplete?.objects.filter((object) => !present.has(objectKey(object))) ?? [];
    return [...objects, ...vanished];
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
  return problem.location === undefined ? problem : { ...problem, location: { ...problem.location, commit } };
}
