import { formatCount } from '../plan-text.ts';
import { code, fenced } from './foreign-text.ts';

/* Parts of the sections of a comment. All have a limited size. */

const [MAX_ITEMS, MAX_FIELDS] = [100, 5] as const;
export const MAX_NAMES = 3;
export const MAX_MOVES = 20;

/** The lines of a list. Lines after the first `most` are only counted. */
export function items(lines: readonly string[], most: number = MAX_ITEMS): string {
  const shown = lines.slice(0, most);
  return [...shown, ...(lines.length > most ? [`- … and ${lines.length - most} more`] : [])].join('\n');
}

/** A list of which as many lines are shown as there is room for. The others are only counted. */
export interface ListBlock {
  readonly lines: readonly string[];
  /** How many more lines there are, which are never shown. */
  readonly hidden: number;
  /** What a line is about. */
  readonly noun: string;
}

/** Lines after the first `most` are only counted. Empty without lines. */
export function listBlock(lines: readonly string[], most: number, noun: string): readonly ListBlock[] {
  if (lines.length === 0) return [];
  return [{ lines: lines.slice(0, most), hidden: Math.max(0, lines.length - most), noun }];
}

/** As many lines of a list as fit into the room (in characters), and the number of the others; '' if none fits. */
export function fittingLines({ lines, hidden, noun }: ListBlock, room: number): string {
  const more = (left: number): string => (left === 0 ? '' : `\n- … and ${formatCount(left, `more ${noun}`)}`);
  const all = lines.join('\n') + more(hidden);
  if (all.length <= room) return all;
  let [length, shown] = [more(hidden + lines.length).length, 0];
  for (const line of lines) {
    length += line.length + 1;
    if (length > room) break;
    shown += 1;
  }
  return shown === 0 ? '' : lines.slice(0, shown).join('\n') + more(hidden + lines.length - shown);
}

/** A command or an annotation to copy: it is never shortened. */
export function copyable(text: string, language = 'text'): string {
  return `\`\`\`${language}\n${fenced(text, Infinity)}\n\`\`\``;
}

/**
 * A section that is folded until a reader opens it.
 * @param summary text that is safe inside an HTML element
 */
export function details(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`;
}

/** `cluster1`, `cluster2`, `cluster3` and 4 more. Names after the first `most` are only counted, unless it is a single one. */
export function names(list: readonly string[], most: number = MAX_NAMES): string {
  if (list.length === 0) return '–';
  const count = list.length === most + 1 ? list.length : most;
  const shown = list.slice(0, count).map(code).join(', ');
  return list.length > count ? `${shown} and ${list.length - count} more` : shown;
}

/**
 * `: `spec.image`, `spec.replicas``: only the paths, because values may be long or unsafe. The report contains them.
 */
export function fieldList(fields: readonly { readonly path: string }[]): string {
  const paths = fields.slice(0, MAX_FIELDS).map(({ path }) => code(path));
  return paths.length === 0 ? '' : `: ${paths.join(', ')}`;
}
