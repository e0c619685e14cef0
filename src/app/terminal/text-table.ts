import { printable } from '@berth/runtime/text/printable';

/** Formats rows as kubectl does: padded columns with three spaces between them, and no trailing space. */
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
