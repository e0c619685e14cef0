/**
 * Reads flags as Go programs take them: `--name=value`, `--name value`, `-name=value`; a flag without a value is true.
 * @param {readonly string[]} words
 * @returns {Map<string, string[]>} all values of each flag, in their order
 */
export function readFlags(words) {
  const flags = new Map();
  for (let at = 0; at < words.length; at++) {
    const match = /^--?([^=]+)(?:=([\s\S]*))?$/.exec(words[at]);
    if (match === null) continue;
    const next = words[at + 1];
    const apart = match[2] === undefined && next !== undefined && !next.startsWith('-');
    if (apart) at++;
    const value = match[2] ?? (apart ? next : 'true');
    flags.set(match[1], [...(flags.get(match[1]) ?? []), value]);
  }
  return flags;
}

/**
 * envtest reads the help text to learn which flags there are.
 * @param {string} program
 * @param {readonly string[]} names
 */
export function helpText(program, names) {
  const lines = names.map((name) => `      --${name}`);
  return `The embedded hub of Berth in the place of ${program}: docs/envtest.md.\nFlags:\n${lines.join('\n')}\n`;
}
