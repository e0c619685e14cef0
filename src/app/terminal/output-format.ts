import { printable, printableText } from '@berth/runtime/text/printable';
import { Option } from 'commander';

/** The formats of every command that prints objects. */
export type OutputFormat = 'table' | 'json' | 'yaml';

/** `-o, --output`: `table` by default, and the other formats of a command, such as `markdown`. */
export function outputOption(...more: readonly string[]): Option {
  return new Option('-o, --output <format>', 'output format')
    .choices(['table', ...more, 'json', 'yaml'])
    .default('table');
}

/**
 * One document, ended by a line break, that is safe for a terminal. Undefined keys are omitted. The
 * YAML libraries are loaded on demand.
 */
export async function renderDocument(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') return printableText(`${JSON.stringify(value, undefined, 2)}\n`);
  const { default: yaml } = await import('js-yaml');
  const text = yaml.dump(value, { skipInvalid: true, lineWidth: -1, noRefs: true });
  return printableText(text) === text ? text : quotedYaml(value);
}

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

/**
 * YAML in which every string with control characters is in double quotes, the only style with
 * escapes. js-yaml, which renders all other documents, does not escape controls of bidirectional
 * text.
 */
async function quotedYaml(value: unknown): Promise<string> {
  const { Document, visit } = await import('yaml');
  const document = new Document(JSON.parse(JSON.stringify(value)), { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && printableText(node.value) !== node.value)
        node.type = 'QUOTE_DOUBLE';
    },
  });
  return printableText(document.toString({ lineWidth: 0 }));
}
