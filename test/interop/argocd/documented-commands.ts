import { readFileSync } from 'node:fs';

/**
 * The shell blocks below a heading of a page, as one script that stops at the first command that fails.
 * @param replaced texts of the page that a reader replaces, and by what; each must be there
 */
export function documentedCommands(
  page: string,
  heading: string,
  replaced: Readonly<Record<string, string>>,
): string {
  const text = readFileSync(page, 'utf8');
  const from = text.indexOf(`\n## ${heading}\n`);
  const to = text.indexOf('\n## ', from + 1);
  const blocks = [...text.slice(from, to).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  if (from < 0 || blocks.length === 0) throw new Error(`${page} has no commands below ${heading}`);
  let script = `set -euo pipefail\n${blocks.join('')}`;
  for (const [placeholder, value] of Object.entries(replaced)) {
    if (!script.includes(placeholder)) throw new Error(`${page} does not say ${placeholder}`);
    script = script.replaceAll(placeholder, value);
  }
  return script;
}
