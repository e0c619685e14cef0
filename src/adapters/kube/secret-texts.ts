import type { KubeObject } from '../../core/model/object-meta.ts';

/**
 * The values of a Secret by key, as text. What is not a string is left out: the server does not store
 * it, but a file may hold it.
 *
 * @param secret as the API has it, with base64 in `data`
 */
export function secretTexts(secret: KubeObject): Readonly<Record<string, string>> {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(data)
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
      .map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}
