/** How the values begin that the shipped manifests ask to replace. Everybody can read them. */
const PLACEHOLDER = /^REPLACE-WITH-/i;

/** Whether somebody left the value of a shipped manifest in its place. */
export function isPlaceholder(token: string): boolean {
  return PLACEHOLDER.test(token);
}
