import { InputError } from '@berth/runtime/errors';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A Secret with `stringData` moved into `data`.
 * @throws InputError if a key is in both. The API server would accept it and use `stringData`.
 */
export function foldStringData(secret: Fields): Fields {
  const { stringData, ...rest } = secret;
  if (stringData === undefined || stringData === null) return rest;
  const data: Record<string, unknown> = { ...(rest['data'] as Fields | undefined) };
  for (const [key, value] of Object.entries(stringData as Record<string, string>)) {
    if (Object.hasOwn(data, key))
      throw new InputError('is in data and in stringData, expected in one of them', {
        code: 'work.secret-key',
        subject: `Secret key ${key}`,
      });
    Object.defineProperty(data, key, {
      value: toBase64(value),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return { ...rest, data };
}

function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
