import type { JsonObject } from '../../json/json-value.ts';
import { objectAt, setOwn, textAt } from '../../json/json-value.ts';
import type { Strategy } from './strategy.ts';

export const SECRET_STRATEGY: Strategy = {
  fillIn: (object) => withEncodedData(textAt(object, 'type') === '' ? { ...object, type: 'Opaque' } : object),
};

/** `stringData` is write-only: it goes into `data`. */
function withEncodedData(object: JsonObject): JsonObject {
  const data: JsonObject = { ...objectAt(object, 'data') };
  const plain = objectAt(object, 'stringData');
  if (plain === undefined) return object;
  for (const [key, value] of Object.entries(plain))
    setOwn(data, key, Buffer.from(String(value as string), 'utf8').toString('base64'));
  const result: JsonObject = { ...object, data };
  delete result['stringData'];
  return result;
}
