import { groupVersionOf } from '@berth/kube/model/object-ref';
import { findResults } from '@berth/kube-jsonpath/find-results';
import { toGoJson } from '@berth/kube-jsonpath/format-value';
import { parseJsonPath } from '@berth/kube-jsonpath/parse-template';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import type {
  FeedbackJsonPath,
  FeedbackRule,
  FeedbackValue,
  FieldValue,
} from '@berth/ocm/kind/manifest-work';
import { goTypeName, isInteger } from '@berth/runtime/json/json-float';
import { utf8LengthBytes } from '@berth/runtime/text/utf8';

export interface FeedbackOptions {
  /** Objects, lists and fractions as JSON text, and all matches instead of the first. Off as upstream's gate. */
  readonly rawJson?: boolean | undefined;
  /** Longest such text, in bytes of UTF-8. Absent: 1024. */
  readonly maxRawJsonBytes?: number | undefined;
}

export interface FeedbackError {
  readonly kind: 'unknownKind' | 'version' | 'syntax' | 'evaluation' | 'type' | 'tooLong';
  /** Name of the path; '' for the complete rule. */
  readonly name: string;
  readonly text: string;
}

export interface Feedback {
  readonly values: readonly FeedbackValue[];
  readonly errors: readonly FeedbackError[];
}

const DEFAULT_MAX_RAW_JSON_BYTES = 1024;

/**
 * Reads the values of the rules from an object, in rule order, then path order; a failing path does
 * not affect the others.
 */
export function readFeedback(
  object: KubeObject,
  rules: readonly FeedbackRule[],
  options: FeedbackOptions = {},
): Feedback {
  const values: FeedbackValue[] = [];
  const errors: FeedbackError[] = [];
  for (const rule of rules) {
    const paths =
      rule.type === 'JSONPaths'
        ? (rule.jsonPaths ?? [])
        : wellKnownFeedbackPaths(object.apiVersion, object.kind);
    if (paths === undefined) {
      errors.push({ kind: 'unknownKind', name: '', text: unknownKindText(object) });
      continue;
    }
    for (const path of paths) {
      const read = readPath(object, path, options);
      if (read.error !== undefined) errors.push(read.error);
      else if (read.value !== undefined) values.push({ name: path.name, fieldValue: read.value });
    }
  }
  return { values, errors };
}

/** Several errors as one text, equal texts once; undefined without errors. */
export function aggregateErrorTexts(texts: readonly string[]): string | undefined {
  const unique = [...new Set(texts)];
  if (unique.length === 0) return undefined;
  return unique.length === 1 ? unique[0] : `[${unique.join(', ')}]`;
}

interface PathOutcome {
  readonly value?: FieldValue | undefined;
  readonly error?: FeedbackError;
}

function readPath(object: KubeObject, path: FeedbackJsonPath, options: FeedbackOptions): PathOutcome {
  const fail = (kind: FeedbackError['kind'], text: string): PathOutcome => ({
    error: { kind, name: path.name, text },
  });
  const { version } = groupVersionOf(object.apiVersion);
  if (path.version !== undefined && path.version !== '' && path.version !== version)
    return fail('version', `version set in the path ${path.name} is not matched for the related resource`);
  const parsed = parseJsonPath(`{${path.path}}`);
  if (!parsed.ok)
    return fail(
      'syntax',
      `failed to parse json path ${path.path} of ${path.name} with error: ${parsed.error}`,
    );
  const found = findResults(parsed.template, object);
  if (!found.ok)
    return fail('evaluation', `failed to find value for ${path.name} with error: ${found.error}`);
  const matches = found.results[0] ?? [];
  // A template of several actions (`a} {b`) gives a list even for one match. Without `rawJson`, lists are not
  // reported and the first match is the value.
  const several = matches.length > 1 || (found.results.length > 1 && matches.length > 0);
  const value = several && options.rawJson === true ? matches : matches[0];
  if (value === undefined || value === null) return {};
  return typedValue(path, value, options);
}

function typedValue(path: FeedbackJsonPath, value: unknown, options: FeedbackOptions): PathOutcome {
  if (typeof value === 'string') return { value: { type: 'String', string: value } };
  if (typeof value === 'boolean') return { value: { type: 'Boolean', boolean: value } };
  // A number that is the path itself is not a value of the object.
  if (isInteger(value) && !LITERAL_NUMBER.test(path.path))
    return { value: { type: 'Integer', integer: value } };
  if (options.rawJson !== true) {
    const text = `the type ${goTypeName(value)} of the value for ${path.name} is not found`;
    return { error: { kind: 'type', name: path.name, text } };
  }
  const jsonRaw = toGoJson(value);
  const limit = options.maxRawJsonBytes ?? DEFAULT_MAX_RAW_JSON_BYTES;
  if (utf8LengthBytes(jsonRaw) <= limit) return { value: { type: 'JsonRaw', jsonRaw } };
  const text = `the length of the value for ${path.name} is over the limit of ${limit} bytes`;
  return { error: { kind: 'tooLong', name: path.name, text } };
}

const LITERAL_NUMBER = /^[\s$@]*[+-]?\d+[\s$@]*$/;

function unknownKindText(object: KubeObject): string {
  const [group, version] = object.apiVersion.includes('/')
    ? (object.apiVersion.split('/') as [string, string])
    : ['', object.apiVersion];
  return `cannot find the wellknown statuses for resource with gvk ${group}/${version}, Kind=${object.kind}`;
}

/**
 * The paths of the feedback rule WellKnownStatus, by `group/version/kind`.
 * Source: ocm `pkg/work/spoke/statusfeedback/rules/rule.go`.
 */
const WELL_KNOWN: Readonly<Record<string, readonly FeedbackJsonPath[]>> = {
  'apps/v1/Deployment': [
    { name: 'ReadyReplicas', path: '.status.readyReplicas' },
    { name: 'Replicas', path: '.status.replicas' },
    { name: 'AvailableReplicas', path: '.status.availableReplicas' },
  ],
  'apps/v1/DaemonSet': [
    { name: 'NumberReady', path: '.status.numberReady' },
    { name: 'DesiredNumberScheduled', path: '.status.desiredNumberScheduled' },
    { name: 'NumberAvailable', path: '.status.numberAvailable' },
  ],
  'batch/v1/Job': [
    { name: 'JobComplete', path: '.status.conditions[?(@.type=="Complete")].status' },
    { name: 'JobSucceeded', path: '.status.succeeded' },
  ],
  '/v1/Pod': [
    { name: 'PodReady', path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'PodPhase', path: '.status.phase' },
  ],
};

/** Undefined for a kind without a well-known status. */
function wellKnownFeedbackPaths(apiVersion: string, kind: string): readonly FeedbackJsonPath[] | undefined {
  const key = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}/${kind}`;
  return Object.hasOwn(WELL_KNOWN, key) ? WELL_KNOWN[key] : undefined;
}

/** An object without the fields that must not be reported to the hub. */
export interface ReportableObject {
  readonly object: KubeObject;
  /** Message for users that names the fields which were left out of a Secret; undefined for other objects. */
  readonly withheld: string | undefined;
}

const WITHHELD = 'the data and the annotations of a Secret are not reported';

/**
 * The part of an object that feedback and condition rules may read. The data of a Secret never
 * leaves its cluster: rules can read its type, names, labels and owners, but cannot read or compare
 * its data. Secrets inside another object, such as the manifests of a ManifestWork, are reduced in
 * the same way; then the annotations of that object are left out, too.
 * @param kind the resource that the object was read from; an object that declares kind Secret is
 * also treated as a Secret
 */
export function reportableObject(
  object: KubeObject,
  kind: Pick<KindInfo, 'group' | 'plural'>,
): ReportableObject {
  if ((kind.group === '' && kind.plural === 'secrets') || isSecret(object))
    return { object: reportableSecret(object) as unknown as KubeObject, withheld: WITHHELD };
  const reduced = withoutSecrets(object) as KubeObject;
  if (reduced === object) return { object, withheld: undefined };
  const { annotations: _annotations, ...metadata } = reduced.metadata;
  return { object: { ...reduced, metadata }, withheld: undefined };
}

type Fields = Readonly<Record<string, unknown>>;

/** The value with every Secret in it reduced; the same value when there is none. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(withoutSecrets);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (isSecret(value)) return reportableSecret(value);
  const entries = Object.entries(value).map(([key, item]) => [key, withoutSecrets(item)] as const);
  const isSame = entries.every(([key, item]) => item === (value as Fields)[key]);
  return isSame ? value : Object.fromEntries(entries);
}

function isSecret(value: object): boolean {
  const { apiVersion, kind } = value as Fields;
  return (
    apiVersion === 'v1' &&
    kind === 'Secret' &&
    ('data' in value || 'stringData' in value || 'metadata' in value)
  );
}

/**
 * Fields of a Secret that cannot contain its data. Annotations can: kubectl apply stores a copy of
 * the object in one.
 */
const SECRET_FIELDS = ['apiVersion', 'kind', 'type', 'immutable'] as const;

const SECRET_METADATA: readonly (keyof ObjectMeta)[] = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'labels',
  'finalizers',
  'ownerReferences',
];

function reportableSecret(secret: object): Fields {
  const { metadata } = secret as Fields;
  const isObject = typeof metadata === 'object' && metadata !== null;
  return { ...pick(secret, SECRET_FIELDS), metadata: isObject ? pick(metadata, SECRET_METADATA) : {} };
}

function pick(from: object, fields: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(from).filter(([field]) => fields.includes(field)));
}
