import { printable } from '../../core/model/printable.ts';

/** Rows as kubectl prints them: columns padded, three blanks between, nothing behind the last. */
export function renderTextTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows.map((row) => row.map(printable))];
  const widths = header.map((_title, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
        .join('   ')
        .trimEnd(),
    )
    .join('\n')
    .concat('\n');
}
