import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, textAt, textsAt } from '../json/json-value.ts';
import { readWebhookClientConfig } from '../wire/webhook-client-config.ts';
import { ALL_VERBS } from './builtin/builtin-definitions.ts';
import {
  type PrinterColumn,
  type ResourceDefinition,
  type ResourceVersion,
  type ScalePaths,
  type Subresources,
  compareVersionPriority,
} from '../schema/resource-definition.ts';
import { compileRootSchema, definitionName } from './compile-schema.ts';
import type { Scheme } from './scheme.ts';

/**
 * The resource that a CustomResourceDefinition declares. `crdProblems` has validated it when it was
 * written.
 * @param scheme to register it in
 */
export function definitionFromCrd(crd: JsonObject, scheme?: Scheme): ResourceDefinition {
  const spec = objectAt(crd, 'spec') ?? {};
  const names = completeNames(objectAt(spec, 'names') ?? {});
  const group = textAt(spec, 'group');
  const versions = listAt(spec, 'versions').filter(isObject);
  return {
    group,
    ...names,
    namespaced: textAt(spec, 'scope') === 'Namespaced',
    builtIn: false,
    ...conversionFrom(spec, scheme?.initial(group, names.plural)),
    verbs: ALL_VERBS,
    storageKey: `${names.plural}.${group}`,
    versions: versions
      .map((version) => versionFrom(version, definitionName(group, textAt(version, 'name'), names.kind)))
      .sort((a, b) => compareVersionPriority(a.name, b.name)),
  };
}

/**
 * What the hub converts itself needs no webhook: OCM's own definitions name the one that OCM runs.
 */
function conversionFrom(
  spec: JsonObject,
  replaced: ResourceDefinition | undefined,
): Pick<ResourceDefinition, 'conversion'> {
  const conversion = objectAt(spec, 'conversion');
  const webhook = textAt(conversion, 'strategy') === 'Webhook' ? objectAt(conversion, 'webhook') : undefined;
  const client = webhook && readWebhookClientConfig(objectAt(webhook, 'clientConfig'));
  if (client?.url === undefined && replaced?.conversion !== undefined)
    return { conversion: replaced.conversion };
  if (client === undefined) return {};
  const reviewVersions = textsAt(webhook, 'conversionReviewVersions');
  return { conversion: { kind: 'webhook', webhook: { client, reviewVersions } } };
}

interface Names {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

function completeNames(names: JsonObject): Names {
  const kind = textAt(names, 'kind');
  const texts = (key: string): readonly string[] =>
    listAt(names, key).filter((one) => typeof one === 'string');
  return {
    plural: textAt(names, 'plural'),
    singular: textAt(names, 'singular') || kind.toLowerCase(),
    kind,
    listKind: textAt(names, 'listKind') || `${kind}List`,
    shortNames: texts('shortNames'),
    categories: texts('categories'),
  };
}

function versionFrom(version: JsonObject, name: string): ResourceVersion {
  const json = objectAt(objectAt(version, 'schema'), 'openAPIV3Schema') ?? { type: 'object' };
  const deprecated = version['deprecated'] === true;
  const warning = textAt(version, 'deprecationWarning');
  return {
    name: textAt(version, 'name'),
    served: version['served'] === true,
    storage: version['storage'] === true,
    ...(deprecated ? { deprecationWarning: warning || `${name} is deprecated` } : {}),
    schema: { ...compileRootSchema(json), name },
    subresources: subresourcesFrom(objectAt(version, 'subresources')),
    printerColumns: columnsFrom(version),
    selectableFields: listAt(version, 'selectableFields')
      .filter(isObject)
      .map((field) => textAt(field, 'jsonPath').replace(/^\./, '')),
  };
}

function subresourcesFrom(json: JsonObject | undefined): Subresources {
  const scale = objectAt(json, 'scale');
  const path = (key: string): string => textAt(scale, key).replace(/^\./, '');
  const label = path('labelSelectorPath');
  const paths: ScalePaths | undefined =
    scale === undefined
      ? undefined
      : {
          specReplicasPath: path('specReplicasPath'),
          statusReplicasPath: path('statusReplicasPath'),
          ...(label === '' ? {} : { labelSelectorPath: label }),
        };
  return {
    status: objectAt(json, 'status') !== undefined,
    ...(paths === undefined ? {} : { scale: paths }),
    others: [],
  };
}

function columnsFrom(version: JsonObject): readonly PrinterColumn[] {
  return listAt(version, 'additionalPrinterColumns')
    .filter(isObject)
    .map((column) => {
      const priority = getOwn(column, 'priority');
      const format = textAt(column, 'format');
      const description = textAt(column, 'description');
      return {
        name: textAt(column, 'name'),
        type: textAt(column, 'type'),
        jsonPath: textAt(column, 'jsonPath'),
        ...(typeof priority === 'number' ? { priority } : {}),
        ...(format === '' ? {} : { format }),
        ...(description === '' ? {} : { description }),
      };
    });
}

/** Names of a definition that another definition of its group already uses. */
export function nameConflicts(definition: ResourceDefinition, scheme: Scheme): readonly string[] {
  const others = scheme
    .definitions()
    .filter((one) => one.group === definition.group && one.plural !== definition.plural);
  const taken = new Set(others.flatMap((one) => [one.plural, one.singular, ...one.shortNames]));
  const kinds = new Set(others.flatMap((one) => [one.kind, one.listKind]));
  return [
    ...[definition.plural, definition.singular, ...definition.shortNames].filter((name) => taken.has(name)),
    ...[definition.kind, definition.listKind].filter((name) => kinds.has(name)),
  ];
}

/**
 * Status of a definition after it was written: accepted names, conditions, versions that objects
 * may be stored in. A definition with conflicting names is not established, and must not be
 * registered.
 * @param now RFC 3339
 */
export function establishedStatus(crd: JsonObject, scheme: Scheme, now: string): JsonObject {
  const definition = definitionFromCrd(crd);
  const conflicts = nameConflicts(definition, scheme);
  const old = objectAt(crd, 'status');
  const accepted = conflicts.length === 0;
  const storage = definition.versions.find((version) => version.storage)?.name ?? '';
  const stored = new Set([...listAt(old, 'storedVersions'), storage]);
  const [names, refused] = accepted ? ACCEPTED : refusal(conflicts);
  // An established definition stays established, so that a later name conflict does not make its
  // objects unavailable.
  const established = isEstablished(crd) ? ACCEPTED[1] : refused;
  const requestedNames = objectAt(objectAt(crd, 'spec'), 'names') ?? {};
  const acceptedBefore = objectAt(old, 'acceptedNames') ?? { kind: '', plural: '' };
  return {
    acceptedNames: accepted ? requestedNames : acceptedBefore,
    conditions: [conditionAt(old, names, now), conditionAt(old, established, now)],
    storedVersions: [...stored],
  };
}

export function isEstablished(crd: JsonObject): boolean {
  return listAt(objectAt(crd, 'status'), 'conditions').some(
    (one) => isObject(one) && one['type'] === 'Established' && one['status'] === 'True',
  );
}

type Condition = Readonly<Record<'type' | 'status' | 'reason' | 'message', string>>;

const ACCEPTED: readonly [Condition, Condition] = [
  { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
  {
    type: 'Established',
    status: 'True',
    reason: 'InitialNamesAccepted',
    message: 'the initial names have been accepted',
  },
];

function refusal(conflicts: readonly string[]): readonly [Condition, Condition] {
  const message = conflicts.map((name) => `"${name}" is already in use`).join(', ');
  return [
    { type: 'NamesAccepted', status: 'False', reason: 'NamesConflict', message },
    { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
  ];
}

/** Keeps the transition time of a condition whose status did not change. */
function conditionAt(old: JsonObject | undefined, condition: Condition, now: string): JsonValue {
  const known = listAt(old, 'conditions')
    .filter(isObject)
    .find((one) => one['type'] === condition.type && one['status'] === condition.status);
  const since = textAt(known, 'lastTransitionTime');
  return { lastTransitionTime: since === '' ? now : since, ...condition };
}
