/** The prefix of the values that the shipped manifests ask to replace. Everybody can read them. */
const PLACEHOLDER = /^REPLACE-WITH-/i;

/** Whether the value of a shipped manifest was not replaced. */
export function isPlaceholder(token: string): boolean {
  return PLACEHOLDER.test(token);
}
