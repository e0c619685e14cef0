import { compareText } from '@berth/runtime/text/compare-text';
import { GenerateError, withPrefix } from '../failure/failures.ts';
import { goJsonString } from '../json/go-json-text.ts';
import { flattenParams } from '../params/flatten-params.ts';
import { goText } from '../params/go-text.ts';
import { setKey } from '../json/json-value.ts';
import { type Params, type ParamValue, PluginMap } from '../params/params.ts';
import type { RawJson } from '../json/raw-json.ts';
import type { TypedObject } from '../typed/typed-value.ts';
import { checkOptions } from '../params/replace-text.ts';
import { appendTemplatedValues } from './append-values.ts';
import type { GeneratorContext } from './generator-context.ts';
import { requestParameters, type PluginConfig } from './plugin-call.ts';

type Inputs = Readonly<Record<string, RawJson>>;

/**
 * The plugin generator. It makes a parameter set for each object in the response of the plugin.
 * Source: argo-cd applicationset/generators/plugin.go.
 * @throws GenerateError, GoPanic
 */
export function generatePlugin(generator: TypedObject, context: GeneratorContext): Params[] {
  const inputs = ((generator['input'] ?? {}) as TypedObject)['parameters'] as Inputs | undefined;
  const config = withPrefix('error getting plugin from generator', () => pluginConfig(generator, context));
  const found = withPrefix('error listing params', () =>
    requestParameters(context, config, requestBody(context.applicationSet, inputs)),
  );
  const shared = new PluginMap();
  for (const [key, value] of Object.entries(inputs ?? {})) setKey(shared, key, value as ParamValue);
  const values = generator['values'] as TypedObject | undefined;
  const { mode } = context;
  return withPrefix('error generating params', () =>
    found.map((object) => {
      const params = mode.goTemplate ? object : flatTexts(object);
      const input = new PluginMap();
      input['parameters'] = shared;
      params['generator'] = { input };
      if (Object.keys(values ?? {}).length > 0) checkOptions(mode);
      appendTemplatedValues(values, params, mode);
      return params;
    }),
  );
}

function flatTexts(object: Params): Params {
  const texts: Params = {};
  for (const [key, value] of Object.entries(flattenParams(object, false))) setKey(texts, key, goText(value));
  return texts;
}

/**
 * The body of the request. The keys of the parameters are sorted. HTML is not escaped, except where
 * a matrix generator escaped it.
 */
function requestBody(applicationSet: string, inputs: Inputs | undefined): string {
  const entries = Object.entries(inputs ?? {}).sort(([a], [b]) => compareText(a, b));
  const parameters = entries.map(([key, { text }]) => `${goJsonString(key, false)}:${text}`);
  const input = parameters.length === 0 ? '{}' : `{"parameters":{${parameters.join(',')}}}`;
  return `{"applicationSetName":${goJsonString(applicationSet, false)},"input":${input}}\n`;
}

function pluginConfig(generator: TypedObject, { inputs }: GeneratorContext): PluginConfig {
  const name = (((generator['configMapRef'] ?? {}) as TypedObject)['name'] ?? '') as string;
  const config = withPrefix('error fetching ConfigMap', () => {
    const data = inputs.configMap(name);
    if (data === undefined) throw new GenerateError(`ConfigMap ${JSON.stringify(name)} not found`);
    for (const key of ['baseUrl', 'token'])
      if ((data[key] ?? '') === '') throw new GenerateError(`${key} not found in ConfigMap`);
    return data;
  });
  checkToken(config['token'] ?? '', inputs);
  return {
    baseUrl: config['baseUrl'] ?? '',
    timeoutSeconds: config['requestTimeout'] === undefined ? 0 : parseSeconds(config['requestTimeout']),
  };
}

function checkToken(reference: string, inputs: GeneratorContext['inputs']): void {
  const prefix = 'error fetching Secret token';
  if (!reference.startsWith('$'))
    throw new GenerateError(
      `${prefix}: token is empty, or does not reference a secret key starting with '$': ${reference}`,
    );
  const name = reference.includes(':') ? (reference.split(':')[0] ?? '').slice(1) : 'argocd-secret';
  if (inputs.secret(name) === undefined)
    throw new GenerateError(
      `${prefix}: error fetching secret ${inputs.namespace}/${name}: Secret ${JSON.stringify(name)} not found`,
    );
}

function parseSeconds(text: string): number {
  const prefix = `error set requestTimeout : strconv.Atoi: parsing ${JSON.stringify(text)}`;
  if (!/^[+-]?\d+$/.test(text)) throw new GenerateError(`${prefix}: invalid syntax`);
  const seconds = BigInt(text.replace(/^\+/, ''));
  if (seconds > 2n ** 63n - 1n || seconds < -(2n ** 63n))
    throw new GenerateError(`${prefix}: value out of range`);
  return Number(seconds);
}
