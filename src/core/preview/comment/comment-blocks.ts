import { code } from './foreign-text.ts';

/* Parts of the sections of a comment. All have a limited size. */

const [MAX_ITEMS, MAX_FIELDS] = [100, 5] as const;
export const MAX_NAMES = 3;
export const MAX_MOVES = 20;

/** The lines of a list. Lines after the first `most` are only counted. */
export function items(lines: readonly string[], most: number = MAX_ITEMS): string {
  const shown = lines.slice(0, most);
  return [...shown, ...(lines.length > most ? [`- … and ${lines.length - most} more`] : [])].join('\n');
}

/**
 * A section that is folded until a reader opens it.
 * @param summary text that is safe inside an HTML element
 */
export function details(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`;
}

/** `cluster1`, `cluster2`, `cluster3`, +4. Names after the first `most` are only counted. */
export function names(list: readonly string[], most: number = MAX_NAMES): string {
  if (list.length === 0) return '–';
  const shown = list.slice(0, most).map(code).join(', ');
  return list.length > most ? `${shown}, +${list.length - most}` : shown;
}

/**
 * `: `spec.image`, `spec.replicas``: only the paths, because values may be long or unsafe. The report contains them.
 */
export function fieldList(fields: readonly { readonly path: string }[]): string {
  const paths = fields.slice(0, MAX_FIELDS).map(({ path }) => code(path));
  return paths.length === 0 ? '' : `: ${paths.join(', ')}`;
}
