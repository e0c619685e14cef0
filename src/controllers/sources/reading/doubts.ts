import { compareText } from '@berth/runtime/text/compare-text';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { possibleIdentities } from '../../../core/sync/plan-prune.ts';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { Doubt, SourceContent } from '../manifests/source-content.ts';
import type { BlindSpot } from './blind-spots.ts';

/** An earlier commit, with the objects that could be read in it. */
export type EarlierCommit = Pick<SourceContent, 'commit' | 'objects'>;

export interface EarlierCommits {
  /** The last complete commit alone, or else the nearest ones, newest first. */
  readonly commits: readonly EarlierCommit[];
  /** Whether the history is cut off, so that the commits before are unknown. */
  readonly isCut: boolean;
}

export interface DoubtInput {
  readonly spots: readonly BlindSpot[];
  /** Files that were read whole and have a document that is no object. It may be an object that the file declared before. */
  readonly oddFiles: ReadonlySet<string>;
  /** Whether a file was read as a manifest, so that its objects are seen. */
  readonly isRead: (file: string) => boolean;
  readonly earlier: () => Promise<EarlierCommits>;
  /** The nearest commits in any case. */
  readonly nearest: () => Promise<EarlierCommits>;
  /** Whether the repository lacks earlier versions of files. */
  readonly isShallow: () => Promise<boolean>;
  /** The paths that changed since an earlier commit; undefined if they are unknown. */
  readonly changedSince: (commit: EarlierCommit) => Promise<readonly string[] | undefined>;
  /** The texts of the files that a spot covers; undefined for one that is not there or too large. */
  readonly textsOf: (spot: BlindSpot) => Promise<readonly (string | undefined)[]>;
  /** Identities of the objects that earlier versions of these files declared. */
  readonly declaredIn: (files: readonly string[]) => Promise<ReadonlySet<string>>;
}

/**
 * Decides which objects may be in a commit although they are not seen in it, so that nothing is deleted because it could
 * not be read. It needs no memory: Git's history answers.
 *
 * A place that cannot be read hides
 * - everything, if it declared objects before;
 * - else an object whose name is in its text, unless the place is the same as in an earlier commit that declared the
 *   object elsewhere.
 *
 * So a file that never declared an object (a playbook, notes, a template) does not stop deletions, and a manifest that was
 * renamed and broken in one commit does.
 */
export class Doubts {
  readonly #input: DoubtInput;
  readonly #texts = new Map<BlindSpot, Promise<readonly (string | undefined)[]>>();
  readonly #changes = new Map<EarlierCommit, Promise<readonly string[] | undefined>>();
  readonly #identities = new Map<EarlierCommit, ReadonlyMap<string, SourceObject>>();
  #hidingAll: Promise<BlindSpot | undefined> | undefined;
  #declaredInOddFiles: Promise<ReadonlySet<string>> | undefined;

  constructor(input: DoubtInput) {
    this.#input = input;
  }

  /** The first place that declared objects before, so that all of Git is in doubt; undefined if there is none. */
  firstHidingAll(): Promise<BlindSpot | undefined> {
    return (this.#hidingAll ??= this.#findHidingAll());
  }

  async #findHidingAll(): Promise<BlindSpot | undefined> {
    for (const spot of this.#input.spots) if (await this.#declaredObjects(spot)) return spot;
    return undefined;
  }

  /** The doubtful ones among objects that are not seen in the commit, in their order. */
  async about<T extends Pick<Doubt, 'object'>>(objects: readonly T[]): Promise<readonly (T & Doubt)[]> {
    if (objects.length === 0) return [];
    const all = await this.firstHidingAll();
    const doubts: (T & Doubt)[] = [];
    for (const one of objects) {
      const because = all === undefined ? await this.#reason(one.object) : unread(all);
      if (because !== undefined) doubts.push({ ...one, because });
    }
    return doubts;
  }

  async #reason(object: KubeObject): Promise<string | undefined> {
    for (const spot of this.#input.spots) if (await this.#mayHide(spot, object)) return unread(spot);
    return this.#mayBeOddDocument(object);
  }

  async #declaredObjects({ declaresObjects, covers }: BlindSpot): Promise<boolean> {
    const { isRead, earlier, isShallow } = this.#input;
    if (declaresObjects === true) return true;
    // Where the history is cut off, it is unknown what the place declared before.
    if (declaresObjects === false) return isShallow();
    const isHere = ({ location: { file } }: SourceObject): boolean => covers(file) && !isRead(file);
    const { commits, isCut } = await earlier();
    return isCut || commits.some(({ objects }) => objects.some(isHere));
  }

  async #mayHide(spot: BlindSpot, object: KubeObject): Promise<boolean> {
    const isNamed = !spot.hasText || (await this.#textsOf(spot)).some((text) => mayName(text, object));
    if (!isNamed) return false;
    const { earlier, nearest } = this.#input;
    // The deletion of an object that left before the last complete commit may have waited for a release.
    const commit = this.#declaring(await earlier(), object) ?? this.#declaring(await nearest(), object);
    return commit === undefined || ((await this.#changedSince(commit))?.some(spot.covers) ?? true);
  }

  /** The newest of the commits that declares the object. */
  #declaring({ commits }: EarlierCommits, object: KubeObject): EarlierCommit | undefined {
    return commits.find((commit) => this.#declared(commit, object) !== undefined);
  }

  async #mayBeOddDocument(object: KubeObject): Promise<string | undefined> {
    const { oddFiles, earlier, declaredIn } = this.#input;
    if (oddFiles.size === 0) return undefined;
    const known = (await earlier()).commits.map((commit) => this.#declared(commit, object));
    const found = known.find((one) => one !== undefined)?.location.file;
    if (found !== undefined) return oddFiles.has(found) ? odd(found) : undefined;
    const files = [...oddFiles].sort(compareText);
    this.#declaredInOddFiles ??= declaredIn(files);
    const declared = await this.#declaredInOddFiles;
    return possibleIdentities(object).some((id) => declared.has(id)) ? odd(files.join(', ')) : undefined;
  }

  #declared(commit: EarlierCommit, object: KubeObject): SourceObject | undefined {
    let identities = this.#identities.get(commit);
    if (identities === undefined) {
      identities = new Map(
        commit.objects.flatMap((one) => possibleIdentities(one.object).map((id) => [id, one] as const)),
      );
      this.#identities.set(commit, identities);
    }
    for (const id of possibleIdentities(object)) {
      const found = identities.get(id);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #textsOf(spot: BlindSpot): Promise<readonly (string | undefined)[]> {
    const texts = this.#texts.get(spot) ?? this.#input.textsOf(spot);
    this.#texts.set(spot, texts);
    return texts;
  }

  #changedSince(commit: EarlierCommit): Promise<readonly string[] | undefined> {
    const changes = this.#changes.get(commit) ?? this.#input.changedSince(commit);
    this.#changes.set(commit, changes);
    return changes;
  }
}

function unread({ place }: BlindSpot): string {
  return `${place} cannot be read`;
}

function odd(files: string): string {
  return `${files} declared it, and has a document that is no object`;
}

/** Fields by which kustomize changes names. */
const RENAMES = /\b(?:namePrefix|nameSuffix|transformers)\b/;
/** kustomize appends a digest to the names of ConfigMaps and Secrets that it generates. */
const DIGEST = /-[0-9a-z]{10}$/;

/** Whether a text may declare an object under another place in Git: it contains the whole name, or makes names. */
function mayName(text: string | undefined, { metadata: { name } }: KubeObject): boolean {
  if (text === undefined || text.includes('\0') || RENAMES.test(text)) return true;
  return [name, name.replace(DIGEST, '')].some((word) => {
    for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1))
      if (!isPartOfName(text, at, at + word.length)) return true;
    return false;
  });
}

function isPartOfName(text: string, start: number, end: number): boolean {
  return (
    /[A-Za-z0-9.-]/.test(text[start - 1] ?? '') ||
    /^(?:[A-Za-z0-9-]|\.[A-Za-z0-9])/.test(text.slice(end, end + 2))
  );
}
