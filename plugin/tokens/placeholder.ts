/** Prefix of the public values that the shipped manifests ask to replace. */
const PLACEHOLDER = /^REPLACE-WITH-/i;

/** Whether the token is the unchanged value of a shipped manifest. */
export function isPlaceholder(token: string): boolean {
  return PLACEHOLDER.test(token);
}
