import type {
  Json,
  Observed,
  ObservedApplied,
  ObservedWork,
  RecordedCondition,
  RecordedHistory,
} from './recorded.ts';
import { givenShapes } from './given-shapes.ts';

/** Everything in which what was observed differs from what was recorded, as `place: got …, recorded …`. */
export function differences(history: RecordedHistory, stepIndex: number, got: Observed): readonly string[] {
  const want = history.steps[stepIndex]?.observed;
  if (want === undefined) return [];
  const found: string[] = [];
  const note = (place: string, a: unknown, b: unknown): void => {
    found.push(`${place}: got ${JSON.stringify(a)}, recorded ${JSON.stringify(b)}`);
  };
  compareWork('work', got.work, want.work, note);
  compareApplied('applied', got.appliedManifestWork, want.appliedManifestWork, note);
  for (const [name, other] of Object.entries(want.others ?? {})) {
    compareWork(`${name} work`, got.others?.[name]?.work ?? null, other.work, note);
    compareApplied(
      `${name} applied`,
      got.others?.[name]?.appliedManifestWork ?? null,
      other.appliedManifestWork,
      note,
    );
  }
  const shapes = givenShapes(history, stepIndex);
  for (const [index, object] of want.applied.entries()) {
    const mine = got.applied[index];
    compareObject(object.path, [mine?.object ?? null, object.object], shapes.get(object.path), note);
    if (object.object !== null && mine?.object != null) {
      if ((mine.recreated ?? false) !== (object.recreated ?? false))
        note(`${object.path} recreated`, mine.recreated, object.recreated);
      const applies = (list: readonly string[] = []): readonly string[] =>
        list.filter((manager) => manager.includes('/Apply'));
      equal(`${object.path} apply managers`, applies(mine.managers), applies(object.managers), note);
    }
  }
  return found;
}

type Note = (place: string, got: unknown, want: unknown) => void;

function compareWork(place: string, got: ObservedWork | null, want: ObservedWork | null, note: Note): void {
  if (got === null || want === null) {
    if (got !== want) note(place, got === null ? 'gone' : 'there', want === null ? 'gone' : 'there');
    return;
  }
  for (const field of ['generation', 'finalizers', 'deleting'] as const)
    equal(`${place} ${field}`, got[field], want[field], note);
  compareConditions(place, got.conditions, want.conditions, note);
  const mine = got.resourceStatus?.manifests ?? [];
  const theirs = want.resourceStatus?.manifests ?? [];
  if (mine.length !== theirs.length) note(`${place} manifests`, mine.length, theirs.length);
  for (const [index, manifest] of theirs.entries()) {
    const here = `${place} manifest ${index}`;
    equal(`${here} meta`, mine[index]?.resourceMeta, manifest.resourceMeta, note);
    equal(`${here} feedback`, mine[index]?.statusFeedback, manifest.statusFeedback, note);
    compareConditions(here, mine[index]?.conditions ?? [], manifest.conditions, note);
  }
}

function compareConditions(
  place: string,
  got: readonly RecordedCondition[],
  want: readonly RecordedCondition[],
  note: Note,
): void {
  const manifest = place.includes('manifest');
  const types = [...new Set([...got, ...want].map(({ type }) => type))];
  for (const type of types) {
    const mine = got.find((condition) => condition.type === type);
    const theirs = want.find((condition) => condition.type === type);
    const here = `${place} condition ${type}`;
    if (mine === undefined || theirs === undefined) {
      note(here, mine ?? 'absent', theirs ?? 'absent');
      continue;
    }
    for (const field of ['status', 'reason', 'observedGeneration'] as const)
      equal(`${here} ${field}`, mine[field], theirs[field], note);
    if (comparableMessage(mine.message) !== comparableMessage(theirs.message))
      note(`${here} message`, mine.message, theirs.message);
    const reliable = manifest && (type === 'Applied' || type === 'StatusFeedbackSynced');
    if (reliable && (mine.moved ?? false) !== (theirs.moved ?? false))
      note(`${here} moved`, mine.moved, theirs.moved);
  }
}

const APPLY_FAILURE = 'Failed to apply manifest: ';
/** Texts that the agent itself makes after that prefix. */
const OWN_FAILURE = /^(not allowed to apply|the server doesn't have a resource type|resource name may not)/;

/** As far as messages are to be equal: not where the API server, or a parser of paths and expressions, speaks. */
export function comparableMessage(message: string): string {
  if (message.startsWith(APPLY_FAILURE)) {
    const rest = message.slice(APPLY_FAILURE.length);
    if (OWN_FAILURE.test(rest)) return message;
    if (rest.startsWith('Apply failed with '))
      return [...new Set(rest.match(/\.[\w.[\]"=]+$/gm) ?? [])].sort().join();
    return APPLY_FAILURE + (rest === '' ? 'nothing' : 'something');
  }
  if (message.startsWith('Failed to process ignoreFields: ')) return 'Failed to process ignoreFields: ';
  const compile = /^ERROR: <input>:\d+:\d+/.exec(message);
  if (compile !== null) return compile[0];
  // The place of a path counts, the parser's words do not.
  return message.replaceAll(/(failed to (?:parse json path|find value) .*? with error: )[^\],]*/g, '$1…');
}

function compareApplied(
  place: string,
  got: ObservedApplied | null,
  want: ObservedApplied | null,
  note: Note,
): void {
  if (got === null || want === null) {
    if (got !== want) note(place, got === null ? 'gone' : 'there', want === null ? 'gone' : 'there');
    return;
  }
  for (const field of ['name', 'labels', 'finalizers', 'deleting', 'spec', 'appliedResources'] as const)
    equal(`${place} ${field}`, got[field], want[field], note);
}

function compareObject(
  place: string,
  [got, want]: readonly [Json | null, Json | null],
  shape: unknown,
  note: Note,
): void {
  if (got === null || want === null) {
    if (got !== want) note(place, got === null ? 'gone' : 'there', want === null ? 'gone' : 'there');
    return;
  }
  const mine = got['metadata'] as Json;
  const theirs = want['metadata'] as Json;
  for (const field of ['labels', 'annotations', 'finalizers', 'deleting'])
    equal(`${place} ${field}`, withoutServers(mine[field]), withoutServers(theirs[field]), note);
  const owners = (metadata: Json): unknown =>
    ((metadata['ownerReferences'] ?? []) as { kind: string; name: string }[])
      .map(({ kind, name }) => `${kind} ${name}`)
      .sort();
  equal(`${place} owners`, owners(mine), owners(theirs), note);
  compareGiven(place, [got, want], shape, note);
}

/** Labels and annotations that only a full Kubernetes server sets: on Jobs and DaemonSets. */
const SERVERS =
  /^(batch\.kubernetes\.io\/)?(controller-uid|job-name)$|^deprecated\.daemonset\.template\.generation$/;

function withoutServers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !SERVERS.test(key)));
}

/** Only what some manifest or step gave: the rest is the API server's. */
function compareGiven(
  place: string,
  [got, want]: readonly [unknown, unknown],
  shape: unknown,
  note: Note,
): void {
  if (Array.isArray(shape)) {
    const mine = (got ?? []) as readonly unknown[];
    const theirs = (want ?? []) as readonly unknown[];
    if (!Array.isArray(mine) || !Array.isArray(theirs) || mine.length !== theirs.length)
      return note(place, got, want);
    for (const [index, item] of theirs.entries())
      compareGiven(`${place}[${index}]`, [mine[index], item], shape[0] ?? null, note);
    return;
  }
  if (typeof shape === 'object' && shape !== null) {
    for (const [key, inner] of Object.entries(shape))
      compareGiven(
        `${place}.${key}`,
        [(got as Json | undefined)?.[key], (want as Json | undefined)?.[key]],
        inner,
        note,
      );
    return;
  }
  equal(place, got, want, note);
}

function equal(place: string, got: unknown, want: unknown, note: Note): void {
  if (canonical(got) !== canonical(want)) note(place, got, want);
}

/** Null, an empty list and an absent one are one. */
function canonical(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  if (entries.length === 0) return 'none';
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${key}:${canonical(item)}`)
    .join()}}`;
}
