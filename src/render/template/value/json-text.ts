import type { GoType } from './go-type.ts';

/** Kubernetes' type for JSON of any kind: a struct that holds the text as bytes, which is how fmt prints it. */
export const JSON_TEXT: GoType<string> = {
  kind: 'struct',
  name: 'v1.JSON',
  text: (bytes: string) => `{[${[...bytes].map((byte) => byte.charCodeAt(0)).join(' ')}]}`,
  rawJson: (bytes: string) => bytes,
};
