import { markup } from '../comment/foreign-text.ts';

const MAX_ROWS = 2000;

/** @param rows cells as HTML. @returns '' without rows */
export function table(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const cells = (tag: 'td' | 'th', row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  const shown = rows.slice(0, MAX_ROWS).map((row) => cells('td', row));
  return `<h2>${markup(title)}</h2>\n<table>\n${cells('th', heads)}\n${shown.join('\n')}\n</table>${more(rows)}`;
}

/** @param items foreign text. @returns '' without items */
export function list(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const shown = items.slice(0, MAX_ROWS).map((item) => `<li>${markup(item)}</li>`);
  return `<h2>${markup(title)}</h2>\n<ul>\n${shown.join('\n')}\n</ul>${more(items)}`;
}

/** Lines of foreign text. */
export function lines(all: readonly string[]): string {
  return all
    .filter((line) => line !== '')
    .slice(0, MAX_ROWS)
    .map(markup)
    .join('<br>');
}

function more(all: readonly unknown[]): string {
  return all.length > MAX_ROWS ? `<p>… and ${all.length - MAX_ROWS} more</p>` : '';
}
