import { readFileSync } from 'node:fs';
import path from 'node:path';
import { load } from 'js-yaml';

interface GuideEntry {
  readonly command?: string;
  readonly manifest?: string;
  /** Why the test of the section does not run it. */
  readonly except?: string;
}

const FILE = path.join(import.meta.dirname, 'guide-commands.yaml');

/**
 * Commands and manifests of a section of the guide that no block ran, without the exceptions. In a command `clusteradm` is `berth`, and
 * a word in angle brackets is any word. A shell ends a command at a comment behind a backslash, so such comments do not count.
 * @param section the beginning of its title, such as `scenario 3`
 * @param blocks what a shell ran
 * @throws Error when the guide has no such section
 */
export function notRun(section: string, blocks: readonly string[]): readonly string[] {
  const ran = blocks.map((block) => folded(block));
  const lines = ran.flatMap((block) => [block, ...block.split('\n')]).map(words);
  const wholes = ran.map(words);
  return entriesOf(section)
    .filter(({ except }) => except === undefined)
    .filter(({ command = '', manifest }) =>
      manifest === undefined
        ? !lines.some((line) => pattern(command, 'whole').test(line))
        : !wholes.some((block) => pattern(manifest, 'part').test(block)),
    )
    .map(({ command, manifest }) => command ?? manifest ?? '');
}

function entriesOf(section: string): readonly GuideEntry[] {
  const guide = load(readFileSync(FILE, 'utf8')) as Readonly<Record<string, readonly GuideEntry[]>>;
  const found = Object.entries(guide).filter(([title]) => title.startsWith(`${section} - `));
  const [only] = found;
  if (only === undefined || found.length > 1) throw new Error(`${FILE} has not one section ${section}`);
  return only[1];
}

function pattern(text: string, extent: 'whole' | 'part'): RegExp {
  const plain = words(folded(text.replaceAll('clusteradm', 'berth')));
  const escaped = plain.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(/<[^<>]+>/g, '\\S+');
  return new RegExp(extent === 'whole' ? `^${escaped}$` : escaped);
}

/** Without comments, and with the lines of one command on one line. */
function folded(text: string): string {
  return text
    .replaceAll(/^ *#.*$/gm, '')
    .replaceAll(/\\ +#.*$/gm, '\\')
    .replaceAll(/ +# .*$/gm, '')
    .replaceAll(/\\\n/g, ' ');
}

function words(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
