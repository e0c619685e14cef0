/**
 * Whether a text has the fields apiVersion and kind: at the start of a line, or after another field on it, as in JSON
 * on one line. For texts that cannot be parsed.
 */
export function hasManifestFields(text: string): boolean {
  return FIELDS.every((field) => field.test(text));
}

const FIELDS = ['apiVersion', 'kind'].map(
  (name) => new RegExp(`(?:(?:^|[{,])[ \\t"'-]*${name}["']?|"${name}")[ \\t]*:`, 'm'),
);
