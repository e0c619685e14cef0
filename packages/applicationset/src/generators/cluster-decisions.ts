import { StringMap } from '@berth/go-template/values';
import { GenerateError, GoPanic, withPrefix } from '../failure/failures.ts';
import { type JsonValue, setKey } from '../json/json-value.ts';
import { isParams, type Params, type ParamValue, goText } from '../params/params.ts';
import { LABEL_SELECTOR, matchesAll, type Requirement, requirementsOf } from '../selector/requirement.ts';
import type { TypedObject } from '../types/go-type.ts';
import type { DecisionObject } from '../inputs/generator-inputs.ts';
import { listArgoClusters } from './clusters.ts';
import type { GeneratorContext } from './generator-context.ts';

/**
 * The clusterDecisionResource generator. It makes a parameter set for each item in the status of
 * the objects that names a cluster of Argo CD. Values of an item become text. Source: argo-cd
 * applicationset/generators/duck_type.go.
 * @throws GenerateError, GoPanic
 */
export function generateClusterDecisions(generator: TypedObject, context: GeneratorContext): Params[] {
  const { inputs, mode } = context;
  const clusters = withPrefix('error listing clusters', () => listArgoClusters(inputs.clusters));
  const configMapName = (generator['configMapRef'] ?? '') as string;
  const config = inputs.configMap(configMapName);
  if (config === undefined)
    throw new GenerateError(
      `error reading configMapRef: configmaps ${JSON.stringify(configMapName)} not found`,
    );
  const objects = listObjects(generator, config, context);
  const matchKey = config['matchKey'] ?? '';
  if (matchKey === '') return [];
  const items = objects.flatMap((object) => decisionsOf(object, config['statusListKey'] || 'clusters'));
  const values = (generator['values'] ?? {}) as Readonly<Record<string, string>>;
  return items.flatMap((item) => {
    const name = clusterNameOf(item, matchKey);
    const server = name === undefined ? undefined : clusters.get(name);
    if (name === undefined) return [];
    if (server === undefined) {
      inputs.onUnknownCluster?.(name);
      return [];
    }
    const params: Params = { name, server };
    for (const [key, value] of Object.entries(item)) setKey(params, key, itemText(value));
    collectValues(values, params, mode.goTemplate);
    return [params];
  });
}

function listObjects(
  generator: TypedObject,
  config: Readonly<Record<string, string>>,
  { inputs }: GeneratorContext,
): readonly DecisionObject[] {
  const { apiVersion = '', kind = '' } = config;
  if (kind === '' || apiVersion.indexOf('/') < 1)
    throw new GenerateError('there is a problem with the apiVersion, kind or resourceName provided');
  const name = (generator['name'] ?? '') as string;
  const selector = (generator['labelSelector'] ?? {}) as TypedObject;
  const hasSelector = selector['matchLabels'] !== undefined || selector['matchExpressions'] !== undefined;
  if ((name === '') !== hasSelector)
    throw new GenerateError(
      'there is a problem with the definition of the ClusterDecisionResource generator',
    );
  const served = inputs.resources(apiVersion, kind);
  if (served === undefined)
    throw new GenerateError(
      'failed to get dynamic resources: the server could not find the requested resource',
    );
  const requirements = name === '' ? listRequirements(selector) : [];
  const objects = served.filter(({ metadata }) =>
    name === '' ? matchesAll(requirements, metadata.labels ?? {}) : metadata.name === name,
  );
  if (objects.length === 0) throw new GenerateError('no clusterDecisionResources found');
  return objects;
}

/**
 * The requirements of the selector. Argo CD sends the selector to the API server as text. It gets
 * an error for an empty or invalid selector, because the text is then not a valid selector.
 */
function listRequirements(selector: TypedObject): readonly Requirement[] {
  const requirements = ((): readonly Requirement[] => {
    try {
      return requirementsOf(selector, LABEL_SELECTOR);
    } catch (error) {
      if (error instanceof GenerateError) return [];
      throw error;
    }
  })();
  if (requirements.length > 0) return requirements;
  throw new GenerateError(
    "failed to get dynamic resources: found '<', expected: !, identifier, or 'end of string'",
  );
}

function decisionsOf({ status }: DecisionObject, listKey: string): readonly Params[] {
  if (status === undefined || status === null) return [];
  if (!isParams(status as ParamValue)) throw wrongKind(status, 'map[string]interface {}');
  const map = status as { readonly [key: string]: JsonValue };
  if (Object.keys(map).length === 0) return [];
  const list = Object.hasOwn(map, listKey) ? map[listKey] : undefined;
  if (!Array.isArray(list)) throw wrongKind(list, '[]interface {}');
  return list as readonly Params[];
}

function clusterNameOf(item: Params, matchKey: string): string | undefined {
  if (!isParams(item)) throw wrongKind(item, 'map[string]interface {}');
  const value = Object.hasOwn(item, matchKey) ? item[matchKey] : undefined;
  if (value === undefined || value === null) return undefined;
  const text = itemText(value);
  return text === '' ? undefined : text;
}

/** The text of a value. Whole numbers in objects of the API server are integers. */
function itemText(value: ParamValue): string {
  return goText(value, true);
}

function wrongKind(value: unknown, wanted: string): GoPanic {
  return new GoPanic(`interface conversion: interface {} is ${goTypeOf(value)}, not ${wanted}`);
}

function goTypeOf(value: unknown): string {
  if (value === undefined || value === null) return 'nil';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return typeof value === 'bigint' || Number.isInteger(value) ? 'int64' : 'float64';
}

/** @throws GoPanic if an item has a key `values` with a text */
function collectValues(values: Readonly<Record<string, string>>, params: Params, goTemplate: boolean): void {
  if (Object.keys(values).length === 0) return;
  if (!goTemplate) {
    for (const [key, value] of Object.entries(values)) setKey(params, `values.${key}`, value);
    return;
  }
  if (params['values'] !== undefined)
    throw new GoPanic('interface conversion: interface {} is string, not map[string]string');
  params['values'] = new StringMap({ ...values });
}
