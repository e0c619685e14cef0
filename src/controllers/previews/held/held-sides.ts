import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, identityOf, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { groupBy } from '@berth/runtime/lists/group-by';
import { sha256 } from '@berth/runtime/sha256';
import { formatNameList } from '@berth/runtime/text/name-list';
import pLimit from 'p-limit';
import type { JudgedDeletions } from '../../../core/preview/judged-deletions.ts';
import {
  changedObjects,
  type HeldObjects,
  inputKey,
  inputsOf,
  compareWithHub,
} from '../../../core/preview/sides/held-objects.ts';
import type { MergedSources, SourceDeclaration } from '../../../core/preview/sides/merge-sources.ts';
import {
  fieldError,
  fieldWarning,
  findingsAbout,
  type SourceFinding,
} from '../../../core/sources/source-finding.ts';
import { findField } from '../../../core/sync/applied/field-names.ts';
import type { LeftField } from '../../../core/sync/left-fields.ts';
import type { Emulation, HubTrials, Trial } from './hub-trials.ts';

/** The error code of an object that the hub refuses. */
export const REFUSED = 'source.hub-refuses';
/** The hub is asked about so many objects of one plan, */
const MAX_ASKED = 200;
/** for so long, */
const MAX_ASKING_MS = 5_000;
/** with so many requests at a time. */
const CONCURRENCY = 8;

export interface SidesOfGit {
  readonly base: MergedSources;
  readonly head: MergedSources;
  readonly sources: readonly SourceDeclaration[];
  /** Whether an object of one of the commits has an error that the hub decides about. */
  readonly isDoubtful: (source: SourceObject) => boolean;
}

export interface HubToAsk {
  /** The inputs of decisions on the hub. Absent: there is no hub. */
  readonly hub: Snapshot | undefined;
  /** Absent: nobody may ask. */
  readonly trials: HubTrials | undefined;
  /** Takes the place of answers. */
  readonly emulation: Emulation;
}

/** What the hub has of the objects of Git, before and after the merge. */
export interface HeldSides {
  /** Without the objects that the hub refuses: it has them as they were before, or not at all. */
  readonly base: MergedSources;
  readonly head: MergedSources;
  /** What decides in place of what Git says. */
  readonly held: { readonly before: HeldObjects; readonly after: HeldObjects };
  /** What the hub refuses or leaves of the objects of the base, and of the head. */
  readonly findings: { readonly base: readonly SourceFinding[]; readonly head: readonly SourceFinding[] };
  readonly notes: readonly string[];
  readonly refusedOf: RefusedOf;
}

/** Finds those objects of the base that the hub refuses, among those that it may not have. */
export type RefusedOf = (absent: readonly SourceObject[]) => Promise<ReadonlySet<SourceObject>>;

type Answers = ReadonlyMap<SourceObject, Trial>;

/**
 * Finds out what the hub will hold of the objects that the merge changes, and what it has of those of the base. It is
 * asked by dry runs of what the controller would send. Where it is not asked, its rules that are known here take its place.
 */
export async function readHeldSides(sides: SidesOfGit, asking: HubToAsk): Promise<HeldSides> {
  const { base, head } = sides;
  const changed = changedObjects(base.objects, head.objects);
  const { differing, asWritten } = compareBase(sides, asking.hub);
  const questions = [...changed.keys(), ...differing];
  const { asked, emulated, refusals, answers } = await answersTo(questions, sides, asking);
  const findings = bySide([...findingsOf(asked), ...findingsOf(emulated), ...refusals], changed, head);
  return {
    ...withoutRefused(sides, changed, answers),
    held: heldOf(answers, { changed, head }, asWritten),
    findings,
    notes: [
      ...refusedBefore(findings.base),
      ...(asking.trials === undefined ? [] : notAsked(asked, questions, 'the change')),
    ],
    refusedOf: refusedAmong(answers, (objects) => {
      // Without a hub nothing shows which objects it does not have. An object without an error is not looked at.
      const open = asking.hub === undefined ? objects.filter(sides.isDoubtful) : objects;
      return answersTo(open, sides, asking);
    }),
  };
}

interface Answered {
  readonly asked: Answers;
  readonly emulated: Answers;
  readonly refusals: readonly SourceFinding[];
  /** All of these together. */
  readonly answers: Answers;
}

async function answersTo(
  questions: readonly SourceObject[],
  sides: SidesOfGit,
  { trials, emulation }: HubToAsk,
): Promise<Answered> {
  const asked = await ask(questions, sides, trials);
  const unasked = questions.filter((one) => (asked.get(one) ?? UNKNOWN).kind === 'unknown');
  const { refusals, emulated } = await emulate(unasked, sides, emulation);
  const refused = refusals.map(
    ({ source, message }) => [source, { kind: 'refused', because: message }] as const,
  );
  return { asked, emulated, refusals, answers: new Map([...asked, ...emulated, ...refused]) };
}

/** @param find answers about objects of which nothing is known yet */
function refusedAmong(
  known: Answers,
  find: (objects: readonly SourceObject[]) => Promise<Pick<Answered, 'answers'>>,
): RefusedOf {
  const answers = new Map(known);
  return async (absent) => {
    const open = absent.filter((one) => !answers.has(one));
    const found = open.length === 0 ? undefined : await find(open);
    for (const one of open) answers.set(one, found?.answers.get(one) ?? UNKNOWN);
    return new Set(absent.filter((one) => answers.get(one)?.kind === 'refused'));
  };
}

/** What was found when the file was read names the field. */
const UNDECLARED = 'it has a field that its kind does not have';

const UNKNOWN: Trial = { kind: 'unknown', because: '' };

interface ComparedBase {
  /** What the hub has otherwise, or not at all; without a hub what it may have otherwise. */
  readonly differing: readonly SourceObject[];
  /** What the hub made of the others, where that is not just what Git says. */
  readonly asWritten: HeldObjects;
}

function compareBase({ base, sources, isDoubtful }: SidesOfGit, hub: Snapshot | undefined): ComparedBase {
  if (hub === undefined) return { differing: base.objects.filter(isDoubtful), asWritten: new Map() };
  const live = inputsOf(hub);
  const applying = new Set(sources.flatMap(({ name, applies }) => (applies ? [name] : [])));
  const [absent, different]: [SourceObject[], SourceObject[]] = [[], []];
  const asWritten = new Map<string, KubeObject>();
  let isFollowed = false;
  for (const one of base.objects) {
    const key = inputKey(one.object);
    const source = base.ownerOf(identityOf(one.object)) ?? '';
    if (key === undefined || !applying.has(source)) continue;
    const there = live(key);
    if (there === undefined) {
      absent.push(one);
      continue;
    }
    isFollowed = true;
    const compared = compareWithHub(one.object, there, source, sha256);
    if (compared === 'different') different.push(one);
    if (compared === 'written') asWritten.set(key, there);
  }
  // A hub that has nothing of Git does not follow it yet.
  return { differing: isFollowed ? [...different, ...absent] : different, asWritten };
}

/** The rules that are known here take the place of the hub. */
async function emulate(
  unasked: readonly SourceObject[],
  sides: SidesOfGit,
  emulation: Emulation,
): Promise<{ readonly refusals: readonly SourceFinding[]; readonly emulated: Answers }> {
  const refusals = await emulation.refusals(unasked);
  const places = new Set(refusals.map(({ source }) => source));
  const rest = unasked.filter((one) => inputKey(one.object) !== undefined && !places.has(one));
  const trials = rest.length > 0 ? await emulation.trials?.(rest.map(({ object }) => object)) : undefined;
  const emulated = new Map<SourceObject, Trial>();
  const tryOne = trials && trier(sides, trials);
  for (const one of rest) {
    const answer = await tryOne?.(one);
    if (answer !== undefined) emulated.set(one, answer);
  }
  for (const one of unasked)
    if (sides.isDoubtful(one) && (emulated.get(one) ?? UNKNOWN).kind === 'unknown')
      emulated.set(one, { kind: 'refused', because: UNDECLARED });
  return { refusals, emulated };
}

async function ask(
  questions: readonly SourceObject[],
  sides: SidesOfGit,
  trials: HubTrials | undefined,
): Promise<Answers> {
  return trials === undefined ? new Map() : askEach(questions, trier(sides, trials));
}

/** Tries an object as its source applies it; undefined if none does. */
function trier(
  { base, head, sources }: SidesOfGit,
  trials: HubTrials,
): (question: SourceObject) => Promise<Trial | undefined> {
  const byName = new Map(sources.map((source) => [source.name, source]));
  return async ({ object }) => {
    const source = byName.get(head.ownerOf(identityOf(object)) ?? base.ownerOf(identityOf(object)) ?? '');
    if (source?.applies !== true) return undefined;
    return trials.apply({ object, source: source.name, takesFields: source.takesFields ?? false });
  };
}

/** Asks within the bounds of a plan. @returns the answers that came in time */
async function askEach<Q>(
  questions: readonly Q[],
  askOne: (question: Q) => Promise<Trial | undefined>,
): Promise<ReadonlyMap<Q, Trial>> {
  const answers = new Map<Q, Trial>();
  const limit = pLimit(CONCURRENCY);
  const asking = questions.slice(0, MAX_ASKED).map((question) =>
    limit(async () => {
      const answer = await askOne(question);
      if (answer !== undefined) answers.set(question, answer);
    }),
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, MAX_ASKING_MS)));
  await Promise.race([Promise.all(asking), late]);
  clearTimeout(timer);
  limit.clearQueue();
  // A later answer belongs to no plan.
  return new Map(answers);
}

/**
 * A refused object stays as the hub has it: as the base declares it, if the hub accepted that; otherwise as the hub
 * itself has it, if at all.
 */
function withoutRefused(
  { base, head }: SidesOfGit,
  changed: ReadonlyMap<SourceObject, SourceObject | undefined>,
  answers: Answers,
): Pick<HeldSides, 'base' | 'head'> {
  const refused = new Set(
    [...answers].filter(([, { kind }]) => kind === 'refused').map(([source]) => source),
  );
  if (refused.size === 0) return { base, head };
  const places = new Set(
    [...refused].filter((source) => !changed.has(source)).map(({ object }) => identityOf(object)),
  );
  const isAccepted = (source: SourceObject): boolean => !places.has(identityOf(source.object));
  const objects = head.objects.flatMap((source): readonly SourceObject[] => {
    if (!refused.has(source)) return changed.has(source) || isAccepted(source) ? [source] : [];
    const before = changed.get(source);
    return before !== undefined && isAccepted(before) ? [before] : [];
  });
  return { base: { ...base, objects: base.objects.filter(isAccepted) }, head: { ...head, objects } };
}

function heldOf(
  answers: Answers,
  { changed, head }: { readonly changed: ReadonlyMap<SourceObject, unknown>; readonly head: MergedSources },
  asWritten: HeldObjects,
): HeldSides['held'] {
  const entries = [...answers].flatMap(([source, trial]) => {
    const key = inputKey(source.object);
    return key !== undefined && trial.kind === 'held' ? [{ source, key, object: trial.object }] : [];
  });
  const ofBase = entries
    .filter(({ source }) => !changed.has(source))
    .map(({ key, object }) => [key, object] as const);
  const before = new Map([...asWritten, ...ofBase]);
  const ofHead = entries
    .filter(({ source }) => changed.has(source))
    .map(({ key, object }) => [key, object] as const);
  // Of one that leaves Git and stays, only what others own is left.
  const inHead = before.size === 0 ? [] : head.objects;
  const stays = new Set(inHead.map((one) => (changed.has(one) ? undefined : inputKey(one.object))));
  const kept = [...before].filter(([key]) => stays.has(key));
  return { before, after: new Map([...kept, ...ofHead]) };
}

/** A finding about an object of the base that the merge does not edit is one of both sides. */
function bySide(
  findings: readonly SourceFinding[],
  changed: ReadonlyMap<SourceObject, unknown>,
  head: MergedSources,
): HeldSides['findings'] {
  const [ofHead, ofBase] = [
    findings.filter(({ source }) => changed.has(source)),
    findings.filter(({ source }) => !changed.has(source)),
  ];
  if (ofBase.length === 0) return { base: [], head: ofHead };
  const edited = new Set([...changed.keys()].map(({ object }) => identityOf(object)));
  const stays = new Set(
    head.objects.map(({ object }) => identityOf(object)).filter((place) => !edited.has(place)),
  );
  const base = ofBase.filter(({ source }) => stays.has(identityOf(source.object)));
  return { base, head: [...ofHead, ...base] };
}

function findingsOf(answers: Answers): readonly SourceFinding[] {
  return [...answers].flatMap(([source, trial]) => {
    if (trial.kind === 'refused')
      return findingsAbout(source, [
        fieldError(REFUSED, [], `the hub refuses the object, and it stays as it is: ${trial.because}`),
      ]);
    return trial.kind === 'held' ? findingsAbout(source, leftFindings(source.object, trial.left)) : [];
  });
}

function leftFindings(object: KubeObject, left: readonly LeftField[]): Parameters<typeof findingsAbout>[1] {
  return left.map(({ name, managers }) => {
    const owner = managers.length === 0 ? 'another manager' : formatNameList(managers);
    const message = `belongs to ${owner} on the hub and stays as it is there`;
    return fieldWarning('source.field-of-other', findField(object, name) ?? [], message);
  });
}

/** What the base has already is no error of the head. */
function refusedBefore(findings: readonly SourceFinding[]): readonly string[] {
  const refused = findings.filter(({ severity }) => severity === 'error');
  const names = [...new Set(refused.map(({ source }) => formatRef(refOf(source.object))))];
  return names.length === 0
    ? []
    : [`The hub refuses ${formatNameList(names)} on the base as well: it stays as it is on the hub.`];
}

/** Names what the hub did not answer, by why. */
function notAsked(
  asked: ReadonlyMap<unknown, Trial>,
  questions: readonly unknown[],
  what: string,
): readonly string[] {
  const open = groupBy(
    [...asked.values()].flatMap((trial) => (trial.kind === 'unknown' ? [trial] : [])),
    ({ because }) => because,
  );
  const reasons = [...open].map(([because, same]) => ({ because, count: same.length }));
  const rest = questions.length - asked.size;
  if (rest > 0) reasons.push({ because: 'it was not asked, or too late', count: rest });
  return reasons.map(
    ({ because, count }) =>
      `For ${count} of ${questions.length} objects the hub did not say whether it accepts ${what}: ${because}.`,
  );
}

/**
 * The deletions without those that the hub refuses.
 * @returns also why each object stays, as text for users
 */
export async function withoutRefusedDeletions(
  deletions: readonly JudgedDeletions[],
  trials: HubTrials | undefined,
): Promise<{
  readonly deletions: readonly JudgedDeletions[];
  readonly refused: ReadonlyMap<KubeObject, string>;
  readonly notes: readonly string[];
}> {
  if (trials === undefined) return { deletions, refused: new Map(), notes: [] };
  const objects = [...new Set(deletions.flatMap(({ deleted }) => deleted))];
  const asked = await askEach(objects, (object) => trials.delete(object));
  const refused = new Map(
    [...asked].flatMap(([object, trial]) =>
      trial.kind === 'refused' ? [[object, trial.because] as const] : [],
    ),
  );
  const notes = notAsked(asked, objects, 'its deletion');
  if (refused.size === 0) return { deletions, refused, notes };
  const staying = deletions.map((judged) => ({
    ...judged,
    deleted: judged.deleted.filter((object) => !refused.has(object)),
    keptOnHub: [...judged.keptOnHub, ...judged.deleted.filter((object) => refused.has(object))],
  }));
  return { deletions: staying, refused, notes };
}
