import type { GoType } from './go-type.ts';

/**
 * The type of Kubernetes for any JSON. It is a struct that holds the text as bytes, and fmt prints
 * it as such.
 */
export const JSON_TEXT: GoType<string> = {
  kind: 'struct',
  name: 'v1.JSON',
  text: (bytes: string) => `{[${[...bytes].map((byte) => byte.charCodeAt(0)).join(' ')}]}`,
  rawJson: (bytes: string) => bytes,
};
