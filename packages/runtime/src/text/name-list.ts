const MAX_NAMES = 10;

/**
 * The first names, and how many more there are. Condition messages are limited to 32,768
 * characters.
 */
export function formatNameList(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(', ');
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown;
}
