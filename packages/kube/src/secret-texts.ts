import type { KubeObject } from './model/object-meta.ts';

/**
 * The values of a Secret by key, as text. Values that are not strings are left out: the server does not store them, but
 * a file may contain them.
 *
 * @param secret in the form of the API, with base64 in `data`
 */
export function secretTexts(secret: KubeObject): Readonly<Record<string, string>> {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(data)
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
      .map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}
