import { StringMap } from '@berth/go-template/values';
import { withPrefix } from '../failure/failures.ts';
import type { GeneratorInputs } from '../inputs/generator-inputs.ts';
import { setKey } from '../json/json-value.ts';
import type { Params } from '../params/params.ts';
import { type TemplateMode, replaceText } from '../params/replace-text.ts';
import type { TypedObject } from '../types/go-type.ts';

const PREFIX = 'failed to replace templated string: failed to replace templated string with rendered values';

/** What a generator needs in addition to its own fields. */
export interface GeneratorContext {
  readonly applicationSet: string;
  readonly mode: TemplateMode;
  readonly inputs: GeneratorInputs;
}

/**
 * Renders the `values` of a generator with the parameters of one set and adds them to the set. A
 * value cannot use other values.
 * @throws GenerateError, GoPanic
 */
export function appendTemplatedValues(
  values: TypedObject | undefined,
  params: Params,
  mode: TemplateMode,
): void {
  const rendered: Record<string, string> = {};
  for (const [key, value] of Object.entries(values ?? {}))
    setKey(
      rendered,
      key,
      withPrefix(PREFIX, () => replaceText(value as string, params, mode)),
    );
  appendValues(rendered, params, mode);
}

/**
 * Adds values to a parameter set. In Go mode they are a map with the key `values`. In the other
 * mode each value has its own key.
 */
function appendValues(
  values: Readonly<Record<string, string>>,
  params: Params,
  { goTemplate }: TemplateMode,
): void {
  if (!goTemplate) for (const [key, value] of Object.entries(values)) setKey(params, `values.${key}`, value);
  else if (Object.keys(values).length > 0) params['values'] = new StringMap(values);
}
