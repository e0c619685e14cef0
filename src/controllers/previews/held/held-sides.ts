import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, identityOf, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
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
  placeKey,
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
import type { HubTrials, Trial } from './hub-trials.ts';

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
  /** Whether an object of the base has an error that the hub decides about. */
  readonly isDoubtful: (source: SourceObject) => boolean;
}

export interface HubToAsk {
  /** The inputs of decisions on the hub. Absent: there is no hub. */
  readonly hub: Snapshot | undefined;
  /** Absent: nobody may ask. */
  readonly trials: HubTrials | undefined;
  /** Finds what a hub would refuse of the objects, where none is asked. */
  readonly refusals: (objects: readonly SourceObject[]) => Promise<readonly SourceFinding[]>;
}

/** What the hub holds of the objects of Git, before and after the merge. */
export interface HeldSides {
  /** Without the objects that the hub refuses: it has them as they were before, or not at all. */
  readonly base: MergedSources;
  readonly head: MergedSources;
  /** What decides in place of what Git says. */
  readonly held: { readonly before: HeldObjects; readonly after: HeldObjects };
  /** What the hub refuses or leaves of the objects of the base, and of the head. */
  readonly findings: { readonly base: readonly SourceFinding[]; readonly head: readonly SourceFinding[] };
  readonly notes: readonly string[];
}

type Answers = ReadonlyMap<SourceObject, Trial>;

/**
 * Finds out what the hub will hold of the objects that the merge changes, and what it holds of those of the base. It is
 * asked by dry runs of what the controller would send. Where it is not asked, its rules that are known here take its place.
 */
export async function readHeldSides(sides: SidesOfGit, asking: HubToAsk): Promise<HeldSides> {
  const { base, head } = sides;
  const changed = changedObjects(base.objects, head.objects);
  const { differing, asWritten } = compareBase(sides, asking.hub);
  const questions = [...changed.keys(), ...differing];
  const asked = await ask(questions, sides, asking);
  const unasked = questions.filter((one) => (asked.get(one) ?? UNKNOWN).kind === 'unknown');
  const emulated = await asking.refusals(unasked);
  const answers: Answers = new Map([
    ...asked,
    ...emulated.map(({ source, message }) => [source, { kind: 'refused', because: message }] as const),
  ]);
  const findings = [...findingsOf(asked), ...emulated];
  const isOfHead = new Set(changed.keys());
  const edited = new Set([...isOfHead].map(({ object }) => placeKey(object)));
  const ofBase = findings.filter(({ source }) => !isOfHead.has(source));
  const inHead = new Set(ofBase.length === 0 ? [] : head.objects.map(({ object }) => placeKey(object)));
  const isKept = (place: string): boolean => inHead.has(place) && !edited.has(place);
  const inBoth = ofBase.filter(({ source }) => isKept(placeKey(source.object)));
  return {
    ...withoutRefused(sides, changed, answers),
    held: heldOf(answers, isOfHead, asWritten),
    findings: { base: inBoth, head: [...findings.filter(({ source }) => isOfHead.has(source)), ...inBoth] },
    notes: [
      ...refusedBefore(inBoth),
      ...(asking.trials === undefined ? [] : notAsked(asked, questions.length)),
    ],
  };
}

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

async function ask(
  questions: readonly SourceObject[],
  { base, head, sources }: SidesOfGit,
  { trials }: HubToAsk,
): Promise<Answers> {
  const answers = new Map<SourceObject, Trial>();
  if (trials === undefined) return answers;
  const byName = new Map(sources.map((source) => [source.name, source]));
  const deadline = performance.now() + MAX_ASKING_MS;
  const limit = pLimit(CONCURRENCY);
  const askOne = async (question: SourceObject): Promise<void> => {
    const { object } = question;
    const source = byName.get(head.ownerOf(identityOf(object)) ?? base.ownerOf(identityOf(object)) ?? '');
    if (source?.applies !== true || performance.now() > deadline) return;
    const { name, takesFields = false } = source;
    answers.set(question, await trials.apply({ object, source: name, takesFields }));
  };
  await Promise.all(questions.slice(0, MAX_ASKED).map((question) => limit(() => askOne(question))));
  return answers;
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
    [...refused].filter((source) => !changed.has(source)).map(({ object }) => placeKey(object)),
  );
  const isAccepted = (source: SourceObject): boolean => !places.has(placeKey(source.object));
  const objects = head.objects.flatMap((source): readonly SourceObject[] => {
    if (!refused.has(source)) return changed.has(source) || isAccepted(source) ? [source] : [];
    const before = changed.get(source);
    return before !== undefined && isAccepted(before) ? [before] : [];
  });
  return { base: { ...base, objects: base.objects.filter(isAccepted) }, head: { ...head, objects } };
}

function heldOf(
  answers: Answers,
  isOfHead: ReadonlySet<SourceObject>,
  asWritten: HeldObjects,
): HeldSides['held'] {
  const entries = [...answers].flatMap(([source, trial]) => {
    const key = inputKey(source.object);
    return key !== undefined && trial.kind === 'held' ? [{ source, key, object: trial.object }] : [];
  });
  const ofBase = entries
    .filter(({ source }) => !isOfHead.has(source))
    .map(({ key, object }) => [key, object] as const);
  const before = new Map([...asWritten, ...ofBase]);
  const ofHead = entries
    .filter(({ source }) => isOfHead.has(source))
    .map(({ key, object }) => [key, object] as const);
  const edited = new Set([...isOfHead].map(({ object }) => inputKey(object)));
  const kept = [...before].filter(([key]) => !edited.has(key));
  return { before, after: new Map([...kept, ...ofHead]) };
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

function notAsked(asked: Answers, questions: number): readonly string[] {
  const open = [...asked].flatMap(([{ object }, trial]) =>
    trial.kind === 'unknown' ? [`${formatRef(refOf(object))} (${trial.because})`] : [],
  );
  const rest = questions - asked.size;
  return [
    ...(open.length === 0
      ? []
      : [`The hub could not say what it does with ${formatNameList(open)}. It may refuse or change them.`]),
    ...(rest === 0
      ? []
      : [`The hub was not asked about ${rest} of ${questions} objects. It may refuse or change them.`]),
  ];
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
}> {
  const refused = new Map<KubeObject, string>();
  if (trials === undefined) return { deletions, refused };
  const limit = pLimit(CONCURRENCY);
  const objects = deletions.flatMap(({ deleted }) => deleted).slice(0, MAX_ASKED);
  await Promise.all(
    objects.map((object) =>
      limit(async () => {
        const trial = await trials.delete(object);
        if (trial.kind === 'refused') refused.set(object, trial.because);
      }),
    ),
  );
  if (refused.size === 0) return { deletions, refused };
  const staying = deletions.map((judged) => ({
    ...judged,
    deleted: judged.deleted.filter((object) => !refused.has(object)),
    keptOnHub: [...judged.keptOnHub, ...judged.deleted.filter((object) => refused.has(object))],
  }));
  return { deletions: staying, refused };
}
