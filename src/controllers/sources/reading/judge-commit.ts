import type { CommitInfo, GitRepository, TreeEntry } from '@berth/git-reader/repository/git-repository';
import { formatRef, refOf } from '@berth/kube/model/object-ref';
import type { Problem } from '@berth/runtime/problem/problem';
import { NOT_AN_OBJECT } from '../../../adapters/yaml/manifest-check.ts';
import type { ParsedManifest } from '../../../adapters/yaml/parse-manifests.ts';
import { stayingMessage } from '../../../core/preview/judged-deletions.ts';
import { manifestFolder } from '../../../core/work/manifests/inline-manifests.ts';
import { escalateUnread, isUnreadable } from '../manifests/read-content.ts';
import { objectKey } from '../manifests/assemble-objects.ts';
import type { ManifestSelection } from '../manifests/commit-listing.ts';
import { escalateUnreadablePlaces } from '../manifests/manifest-selection.ts';
import type { Doubt, ManifestLimits, SourceContent } from '../manifests/source-content.ts';
import { isBelow } from '../manifests/special-folders.ts';
import type { BlindSpot } from './blind-spots.ts';
import { Doubts, type EarlierCommit, type EarlierCommits } from './doubts.ts';
import type { FileVersionReading } from './file-readings.ts';
import { declaredBefore, lastDeclaredObjects } from './last-good.ts';

/** Earlier commits, newest first. */
export interface WalkedCommits extends EarlierCommits {
  readonly commits: readonly SourceContent[];
}

/** The code of the warning about an object that left Git and is not deleted. */
export const STAYS = 'source.stays';

/** A commit as far as it can be read. */
export interface AssembledCommit {
  readonly info: CommitInfo;
  readonly selection: ManifestSelection;
  readonly readings: ReadonlyMap<string, FileVersionReading>;
  readonly spots: readonly BlindSpot[];
  readonly objects: readonly ParsedManifest[];
  readonly problems: readonly Problem[];
  /** False if a work was left out because its folder of manifests has problems. */
  readonly complete: boolean;
}

export interface JudgedCommit
  extends Pick<
    SourceContent,
    'objects' | 'problems' | 'complete' | 'unreadable' | 'staying' | 'doubtsAbout'
  > {
  /** The problems of entries that are not read. */
  readonly refusals: readonly Problem[];
}

export interface JudgeTools {
  readonly repository: GitRepository;
  readonly limits: ManifestLimits;
  /** The last complete commit; `same`: it is this one. Undefined: none is recorded. */
  readonly last: EarlierCommit | 'same' | undefined;
  /** Reads the nearest earlier commits, back to one that has no such place. */
  readonly walkBack: () => Promise<WalkedCommits>;
  /** Finds the last complete one of these; undefined: none is. */
  readonly lastOf: (commits: WalkedCommits['commits']) => Promise<EarlierCommit | undefined>;
  /** The entries of the commit. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
}

/** Files that were read whole and have a document that is no object. */
export function findOddFiles(problems: readonly Problem[]): ReadonlySet<string> {
  return new Set(
    problems.flatMap(({ code, location }) => (code === NOT_AN_OBJECT ? (location?.file ?? []) : [])),
  );
}

/**
 * Finds what a commit may hide, compared with the last complete commit. Without a record of one (at the first start, in
 * a plan, or if the data directory was lost), the history is read. What may be hidden stays as it was last declared.
 */
export async function judgeCommit(read: AssembledCommit, tools: JudgeTools): Promise<JudgedCommit> {
  const { info, selection, spots, objects, problems, complete: isFilled } = read;
  const { last, repository, limits } = tools;
  const earlierOf = earlierReader(tools);
  const doubts = doubtsIn(read, tools, earlierOf);
  const before = last === 'same' ? [] : (await earlierOf()).commits;
  const earlier = before.flatMap((commit) => commit.objects);
  const present = new Set(objects.map(objectKey));
  const vanished = newestOfEach(earlier).filter((object) => !present.has(objectKey(object)));
  const files = earlier.map(({ location }) => location.file);
  const refusals = escalateUnreadablePlaces(selection.problems, files);
  const escalated = escalateDocumentWarnings(problems, objects, earlier);
  const hidesAll = last === 'same' ? undefined : await doubts.firstHidingAll();
  const doubtful = await doubts.about(vanished);
  const complete =
    isFilled &&
    hidesAll === undefined &&
    doubtful.length === 0 &&
    refusals === selection.problems &&
    escalated === problems;
  const [nearest] = before;
  const stays = new Set([...doubtful, ...(nearest?.objects ?? [])].map(objectKey));
  const kept = complete ? [] : vanished.filter((one) => stays.has(objectKey(one)));
  const refused = selection.problems.flatMap(({ location }) => location?.file ?? []);
  const because = doubtful[0]?.because ?? `${refused[0] ?? 'a part of Git'} cannot be read`;
  const reasons = new Map(doubtful.map(({ object, because }) => [object, because]));
  const staying = kept
    .filter((one) => isGone(one, [...spots.map(({ covers }) => covers), ...refused.map(isBelow)]))
    .map((one) => ({ ...one, because: reasons.get(one.object) ?? because }));
  const asDeclared = { objects: kept, commit: info.id, limits };
  return {
    objects:
      kept.length === 0 ? objects : [...objects, ...(await lastDeclaredObjects(repository, asDeclared))],
    problems: [
      ...(hidesAll === undefined ? escalated : escalateUnread(escalated)),
      ...staying.map(stayingProblem),
    ],
    refusals,
    complete,
    unreadable: spots.map(({ place }) => place),
    staying,
    doubtsAbout: (others) => doubts.about(others.map((object) => ({ object }))),
  };
}

/** Whether an object left Git: it was not in a place that cannot be read, and is no work that waits for its manifests. */
function isGone(
  { object, location: { file } }: ParsedManifest,
  unread: readonly BlindSpot['covers'][],
): boolean {
  return manifestFolder(object) === undefined && !unread.some((covers) => covers(file));
}

/** The last complete commit, whether it is on record or not, or else the nearest commits. */
function earlierReader({ last, walkBack, lastOf }: JudgeTools): () => Promise<EarlierCommits> {
  const known = last === undefined || last === 'same' ? undefined : { commits: [last], isCut: false };
  const find = async (): Promise<EarlierCommits> => {
    const walked = await walkBack();
    const found = await lastOf(walked.commits);
    return found === undefined ? walked : { commits: [found], isCut: false };
  };
  let found: Promise<EarlierCommits> | undefined;
  return async () => known ?? (found ??= find());
}

function doubtsIn(
  { info, readings, spots, problems }: AssembledCommit,
  { repository, limits, walkBack, entries }: JudgeTools,
  earlier: () => Promise<EarlierCommits>,
): Doubts {
  const isRead = (file: string): boolean => {
    const reading = readings.get(file);
    return reading !== undefined && !isUnreadable(reading.parsed);
  };
  return new Doubts({
    spots,
    oddFiles: findOddFiles(problems),
    isRead,
    earlier,
    nearest: walkBack,
    isShallow: () => repository.isShallow(),
    changedSince: async ({ commit }) =>
      commit === undefined
        ? undefined
        : (await repository.diffTrees(commit.id, info.id).catch(() => undefined))?.map(({ path }) => path),
    textsOf: ({ covers }) => {
      const ids = [...entries.values()].flatMap(({ path, id }) => (covers(path) ? [id] : []));
      return readTexts(repository, ids, limits.maxFileBytes);
    },
    declaredIn: (paths) => declaredBefore(repository, { paths, commit: info.id, limits }),
  });
}

/** In more files names are not searched. */
const MAX_TEXTS = 2_000;

/** The texts of blobs; undefined for one that is not there or too large, and if there are too many. */
async function readTexts(
  repository: GitRepository,
  ids: readonly string[],
  maxBytes: number,
): Promise<readonly (string | undefined)[]> {
  if (ids.length > MAX_TEXTS) return [undefined];
  const texts: (string | undefined)[] = [];
  await repository.readBlobs(ids, { maxBytes }, (blob) =>
    texts.push(blob.state === 'read' ? blob.bytes.toString('utf8') : undefined),
  );
  return texts;
}

/** The first of the objects with the same key, located in its commit. The commits are in order, newest first. */
function newestOfEach(objects: readonly ParsedManifest[]): readonly ParsedManifest[] {
  const newest = new Map<string, ParsedManifest>();
  for (const object of objects) {
    const key = objectKey(object);
    if (!newest.has(key)) newest.set(key, object);
  }
  return [...newest.values()];
}

function stayingProblem({ object, because, location }: Doubt & ParsedManifest): Problem {
  return {
    severity: 'warning',
    code: STAYS,
    message: stayingMessage(because),
    location,
    object: formatRef(refOf(object)),
  };
}

const HINT =
  'the objects that the file declared before stay unchanged; add apiVersion and kind to the document, or remove it from the file';

/**
 * Turns warnings about documents that are not objects into errors, in files in which a previous
 * object is missing: the document may be that object. Returns the same list if there are none.
 */
function escalateDocumentWarnings(
  problems: readonly Problem[],
  objects: readonly ParsedManifest[],
  before: readonly ParsedManifest[],
): readonly Problem[] {
  const present = new Set(objects.map(objectKey));
  const vanishedFrom = new Set(
    before.filter((object) => !present.has(objectKey(object))).map(({ location }) => location.file),
  );
  const hides = ({ code, location }: Problem): boolean =>
    code === NOT_AN_OBJECT && vanishedFrom.has(location?.file ?? '');
  if (!problems.some(hides)) return problems;
  return problems.map((problem) =>
    hides(problem) ? { ...problem, severity: 'error', hint: HINT } : problem,
  );
}
