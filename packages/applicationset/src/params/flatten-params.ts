import { StringMap } from '@berth/go-template/values';
import { setKey } from '../json/json-value.ts';
import { isParams, type Params, ParamsList, type ParamValue } from './params.ts';

/**
 * Flattens nested maps and lists to keys such as `a.b` and `l.0`. Empty maps and lists give no key.
 * Go types other than `map[string]interface {}` and `[]interface {}` count as one value. Source:
 * github.com/jeremywohl/flatten.
 * @param intoStringMaps whether to flatten a map of strings that is not in a list, as selectors do
 */
export function flattenParams(params: Params, intoStringMaps: boolean): Record<string, ParamValue> {
  const flat: Record<string, ParamValue> = {};
  const visit = (key: string, value: ParamValue, inMaps: boolean): void => {
    const opened = inMaps && value instanceof StringMap ? (value.entries as Params) : value;
    if (isParams(opened))
      for (const [name, item] of Object.entries(opened)) visit(`${key}.${name}`, item, inMaps);
    else if (Array.isArray(opened) && !(opened instanceof ParamsList))
      opened.forEach((item, index) => {
        visit(`${key}.${index}`, item, false);
      });
    else setKey(flat, key, opened);
  };
  for (const [key, value] of Object.entries(params)) visit(key, value, intoStringMaps);
  return flat;
}
