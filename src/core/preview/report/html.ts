import { markup } from '../comment/foreign-text.ts';

/** Of one list or table; the others are counted. */
const MAX_ROWS = 2000;

/** A row of a table is its cells as HTML. The first cell names the row. */
export type HtmlRow = readonly string[];

/** @returns '' without rows */
export function table(title: string, heads: readonly string[], rows: readonly HtmlRow[]): string {
  if (rows.length === 0) return '';
  return section(title, `<div class="wide stack">${plainTable(heads, rows)}</div>${more(rows)}`);
}

export function plainTable(heads: readonly string[], rows: readonly HtmlRow[]): string {
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join('');
  const body = rows.slice(0, MAX_ROWS).map(([first = '', ...others]) => {
    const cells = others.map((cell) => `<td>${cell}</td>`).join('');
    return `<tr><th scope="row">${first}</th>${cells}</tr>`;
  });
  return `<table><thead><tr>${head}</tr></thead><tbody>\n${body.join('\n')}\n</tbody></table>`;
}

/** @param items foreign text. @returns '' without items */
export function list(title: string, items: readonly string[]): string {
  return items.length === 0 ? '' : section(title, listOf(items.map((item) => markup(item))));
}

/** @param items HTML */
export function listOf(items: readonly string[]): string {
  const shown = items.slice(0, MAX_ROWS).map((item) => `<li>${item}</li>`);
  return `<ul>\n${shown.join('\n')}\n</ul>${more(items)}`;
}

/** @returns '' without a body */
export function section(title: string, body: string): string {
  return body === '' ? '' : `<section><h2>${markup(title)}</h2>\n${body}</section>`;
}

/** @param summary HTML */
export function fold(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>${body}</details>`;
}

/** Lines of foreign text. */
export function lines(all: readonly string[]): string {
  return all
    .filter((line) => line !== '')
    .slice(0, MAX_ROWS)
    .map((line) => markup(line))
    .join('<br>');
}

function more(all: readonly unknown[]): string {
  return all.length > MAX_ROWS ? `<p>… and ${all.length - MAX_ROWS} more</p>` : '';
}

/** Each text colour has a contrast of at least 4.5 on both backgrounds, `bg` and `soft`. A test computes it. */
export const COLOURS = {
  light: {
    ...{ bg: '#ffffff', soft: '#f3f5f7', line: '#d0d7de', text: '#1f2328', muted: '#59636e' },
    ...{ link: '#0860ca', good: '#11652b', danger: '#b81d27', warning: '#7d5300', bar: '#4a7fc1' },
  },
  dark: {
    ...{ bg: '#0d1117', soft: '#1b222b', line: '#3d444d', text: '#e6edf3', muted: '#9fa7b0' },
    ...{ link: '#58a6ff', good: '#3fb950', danger: '#ff7b72', warning: '#d29922', bar: '#5b8fd6' },
  },
} as const;

/** `--bg:#ffffff;…`, for a rule of a style sheet. */
export function colourVariables(colours: Readonly<Record<string, string>>): string {
  return Object.entries(colours)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';');
}
