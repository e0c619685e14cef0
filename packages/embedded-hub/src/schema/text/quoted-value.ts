import { isObject, type JsonValue } from '../../json/json-value.ts';
import { cutText } from '../../wire/status-error.ts';

/** Longer values are cut in messages: nobody reads them, and one message may name a hundred. */
const MAX_LENGTH = 1_024;

/** A value as the API server prints it in messages; a long one is cut. */
export function quotedValue(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(cutText(value, MAX_LENGTH));
  if (typeof value !== 'object') return JSON.stringify(value);
  return cutText(jsonBeginning(value, MAX_LENGTH + 1), MAX_LENGTH);
}

/** The first `length` characters of the JSON of a value, without rendering the rest. */
function jsonBeginning(value: JsonValue, length: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, length));
  if (Array.isArray(value))
    return `[${beginnings(value.length, length, (at, rest) => jsonBeginning(value[at] as JsonValue, rest))}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value);
  const entry = (at: number, rest: number): string => {
    const key = keys[at] as string;
    return `${JSON.stringify(key.slice(0, rest))}:${jsonBeginning(value[key] as JsonValue, rest)}`;
  };
  return `{${beginnings(keys.length, length, entry)}}`;
}

function beginnings(count: number, length: number, part: (at: number, rest: number) => string): string {
  let text = '';
  for (let at = 0; at < count && text.length < length; at += 1)
    text += `${at === 0 ? '' : ','}${part(at, length - text.length)}`;
  return text;
}
