import { formatRef } from '@berth/kube/model/object-ref';
import { groupBy } from '@berth/runtime/lists/group-by';
import type { FieldChange, ManifestChange } from './effects/plan-effects.ts';
import type { ObjectChange, Plan, WorkloadPlan } from './plan.ts';

/*
 * Which values a change sets, for the first screen of every view: `image v5 → v6, replicas 3 → 5, on c1 and c2`. A reader
 * knows a field by its last name; the whole paths are further below.
 */

/** One line: what changes, and how. */
export interface ContentChange {
  /** `team-a/web`, `Placement team-a/web`, `Applications of argocd/web`. */
  readonly subject: string;
  readonly text: string;
}

/** More fields of one subject are counted. */
const MAX_FIELDS = 6;
/** A longer value is not shown: it would have to be cut. An object has several. */
const [MAX_VALUE_LENGTH, MAX_ENTRIES_LENGTH] = [60, 100] as const;
const MAX_CLUSTERS = 5;

export function contentChanges({ workloads, objects, applications }: Plan): readonly ContentChange[] {
  return [
    ...changedWorkloads({ workloads }).map(workloadChange),
    ...objects.flatMap(objectChange),
    ...applications.flatMap(applicationChanges),
  ];
}

/** The workloads that get other content on clusters that keep them. */
export function changedWorkloads({ workloads }: Pick<Plan, 'workloads'>): readonly WorkloadPlan[] {
  return workloads.filter(({ manifests }) => manifests.length > 0);
}

function workloadChange({ namespace, name, manifests, changedOn }: WorkloadPlan): ContentChange {
  const isAlone = manifests.length === 1;
  const parts = manifests.flatMap((manifest) => manifestTexts(manifest, isAlone));
  const where = changedOn.length === 0 ? 'on no cluster' : `on ${clusterNames(changedOn)}`;
  const subject = namespace === '' ? `add-on ${name}` : `${namespace}/${name}`;
  return { subject, text: [...limited(parts), where].join(', ') };
}

function manifestTexts({ change, ref, fields }: ManifestChange, isAlone: boolean): readonly string[] {
  const subject = `${ref.kind} ${ref.name}`;
  if (change !== 'changed') return [`${subject} is ${change}`];
  const texts = valueTexts(fields);
  return isAlone ? texts : texts.map((text) => `${subject} ${text}`);
}

/** A work has no values of its own: its manifests are compared. */
function objectChange({ change, ref, values = [] }: ObjectChange): readonly ContentChange[] {
  if (change !== 'changed' || values.length === 0) return [];
  return [{ subject: formatRef(ref), text: limited(valueTexts(values)).join(', ') }];
}

/** Applications of a set that change in the same way are one line. */
function applicationChanges({
  namespace,
  name,
  applications,
}: Plan['applications'][number]): readonly ContentChange[] {
  const changed = applications.filter(({ change, fields }) => change === 'changed' && fields.length > 0);
  const same = groupBy(changed, ({ fields }) => limited(valueTexts(fields)).join(', '));
  return [...same].map(([text, list]) => {
    const [first] = list;
    const subject =
      list.length === 1 && first !== undefined
        ? `Application ${first.name}`
        : `${list.length} Applications of ${namespace}/${name}`;
    return { subject, text };
  });
}

/** `image v5 → v6`. A name that two fields share is replaced by their paths. */
export function valueTexts(fields: readonly FieldChange[]): readonly string[] {
  const names = groupBy(fields, ({ path }) => shortName(path));
  return fields.map((field) => {
    const short = shortName(field.path);
    const name = (names.get(short)?.length ?? 0) > 1 ? field.path : short;
    return valueText(name, field);
  });
}

function valueText(name: string, { before, after, secret }: FieldChange): string {
  if (secret === true) return `${name} changes (secret)`;
  // Not a field: the number of fields that were left out.
  if (before === undefined && after === undefined) return name;
  const [old, now] = withoutSameStart(plain(before), plain(after));
  if (isShort(before, old) && isShort(after, now)) return `${name} ${old} → ${now}`;
  if (before !== undefined && after !== undefined) return `${name} changes`;
  const entries = entriesText(before ?? after ?? '');
  return `${name} is ${before === undefined ? 'added' : 'removed'}${entries === '' ? '' : `: ${entries}`}`;
}

/** `key drain, effect NoSelect` of a flat object, also of one that is alone in its list. '' if it does not fit into a line. */
function entriesText(json: string): string {
  const flat = /^\[?\{([^[\]{}]+)\}\]?$/.exec(json)?.[1] ?? '';
  const entries = [...flat.matchAll(/"([\w.-]+)":("[^"\\]*"|[\w.-]+)/g)];
  const isWhole = entries.map(([entry]) => entry).join(',') === flat;
  const text = entries.map(([, key = '', value]) => `${key} ${plain(value)}`).join(', ');
  return isWhole && text.length <= MAX_ENTRIES_LENGTH ? text : '';
}

/** Whether a value fits into a line: no object and no list, and not long. */
function isShort(value: string | undefined, text: string): boolean {
  return !/^[[{]/.test(value ?? '') && text.length <= MAX_VALUE_LENGTH;
}

/** `spec.template.spec.containers[0].image`: `image`; `metadata.labels["a.b/c"]`: `a.b/c`. */
function shortName(path: string): string {
  const quoted = /\["([^"]+)"\]$/.exec(path)?.[1];
  return quoted ?? /[^.[\]]+(?:\[\d+\])*$/.exec(path)?.[0] ?? path;
}

/** A value as a person writes it: text without quotes. */
function plain(value: string | undefined): string {
  if (value === undefined) return 'not set';
  return /^"[^"\\]+"$/.test(value) ? value.slice(1, -1) : value;
}

/** Two versions of the same image: only the versions. */
function withoutSameStart(old: string, now: string): readonly [old: string, now: string] {
  const [before, after] = [splitImage(old), splitImage(now)];
  const isSame = before !== undefined && before.name === after?.name;
  return isSame ? [before.version, after?.version ?? now] : [old, now];
}

function splitImage(value: string): { readonly name: string; readonly version: string } | undefined {
  const match = /^([\w.-]+(?::\d+)?(?:\/[\w.-]+)*)[:@]([\w.:+-]+)$/.exec(value);
  return match === null ? undefined : { name: match[1] ?? '', version: match[2] ?? '' };
}

function limited(texts: readonly string[]): readonly string[] {
  if (texts.length <= MAX_FIELDS) return texts;
  return [...texts.slice(0, MAX_FIELDS), `and ${texts.length - MAX_FIELDS} more`];
}

/** `c1`, `c1 and c2`, `c1, c2 and 3 more`. */
function clusterNames(names: readonly string[]): string {
  if (names.length > MAX_CLUSTERS)
    return `${names.slice(0, MAX_CLUSTERS - 1).join(', ')} and ${names.length - MAX_CLUSTERS + 1} more`;
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}
